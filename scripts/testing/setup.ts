// Runs before every test file. Hooks run in reverse order, so this one comes after those of the file itself.
import { afterAll } from "vitest";
import { endFile } from "./after-file.ts";
import { logOutput } from "./run-log.ts";
import { removeTemporaryFolders } from "./temporary-folder.ts";

logOutput();
afterAll(removeTemporaryFolders);
afterAll(endFile);
