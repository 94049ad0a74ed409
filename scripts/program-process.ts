// The process of runPrograms: imports the programs named on the command line, one after another, until one fails.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { pathToFileURL } from "node:url";

export interface ProgramReport {
  readonly file: string;
  readonly output: string;
  /** Why it failed; absent for a program that ended well. */
  readonly failure?: string;
}

let output = "";
const problems: string[] = [];
const keep: typeof process.stdout.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
  output += typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk);
  const done = rest.at(-1);
  if (typeof done === "function") done();
  return true;
};
process.stdout.write = keep;
process.stderr.write = keep;
process.on("unhandledRejection", (reason) => problems.push(textOf(reason)));
process.on("uncaughtException", (error) => problems.push(textOf(error)));
const exit = process.exit;
process.exit = (code) => {
  throw new Error(`exited with ${code ?? process.exitCode ?? 0}`);
};

const idle = holding();
const env = { ...process.env };
const home = process.cwd();
for (const [index, file] of process.argv.slice(2).entries()) {
  output = "";
  mkdirSync(join(home, String(index)));
  process.chdir(join(home, String(index)));
  await run(file).catch((error: unknown) => problems.push(textOf(error)));
  if (process.exitCode) problems.push(`exited with ${process.exitCode}`);
  process.env = { ...env };
  const failure = problems.length === 0 ? {} : { failure: `failed: ${problems.join("\n")}` };
  const report: ProgramReport = { file, output, ...failure };
  await new Promise<void>((resolve) => process.send?.(report, undefined, undefined, () => resolve()));
  if (problems.length > 0) exit(1); // it may have left something behind that the next would trip over
}
process.disconnect?.();

/** Resolves when the program has ended and a process of its own would end too. */
async function run(file: string): Promise<void> {
  await import(pathToFileURL(file).href);
  do {
    await sleep(1);
    await turn();
  } while (holding() !== idle && problems.length === 0);
}

/** What keeps this process alive. */
function holding(): string {
  return process.getActiveResourcesInfo().toSorted().join();
}

function textOf(reason: unknown): string {
  return reason instanceof Error ? (reason.stack ?? reason.message) : String(reason);
}
