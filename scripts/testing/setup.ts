// Runs before every test file. Hooks run in reverse order, so this one comes after those of the file itself.
import { afterAll } from "vitest";
import { removeTemporaryFolders } from "./temporary-folder.ts";

afterAll(removeTemporaryFolders);
