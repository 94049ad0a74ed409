import { existsSync } from "node:fs";
import { serve, stateFile, text, tool } from "./wire.ts";

/** Does not start until somebody has put its licence in place, and says so where a person would look. */
if (existsSync(stateFile)) {
  serve({ tools: [tool("echo")], calls: { echo: () => text("licensed") } });
} else {
  const { LICENCE = "nothing" } = process.env;
  process.stderr.write(`error: no licence key found, only ${LICENCE}\n`);
  process.exitCode = 1;
}
