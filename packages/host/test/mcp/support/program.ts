import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * What one of the programs beside this file prints, as JSON. Anything it says on stderr is a failure. Its heap is small,
 * so that it dies of what would merely show elsewhere.
 */
export async function printedBy(program: string, ...args: string[]): Promise<unknown> {
  const flags = [
    "--conditions=@trackside/source",
    "--expose-gc",
    "--max-old-space-size=96",
    "--max-semi-space-size=4",
    "--unhandled-rejections=strict",
  ];
  const path = join(import.meta.dirname, `${program}.ts`);
  const { stdout, stderr } = await run(process.execPath, [...flags, path, ...args], { maxBuffer: 1 << 24 });
  if (stderr !== "") throw new Error(`${program} complained: ${stderr}`);
  return JSON.parse(stdout);
}
