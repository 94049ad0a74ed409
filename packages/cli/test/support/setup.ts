// Runs before every test file of the CLI, also where files share a process and with it the modules they load.
import { afterEach } from "vitest";
import { endCommands } from "./cli.ts";

afterEach(endCommands);
