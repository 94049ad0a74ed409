import { fork } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProgramReport } from "./program-process.ts";

/** What a program printed, or why it failed. */
export type Outcome = { readonly output: string } | { readonly failure: string };

/**
 * Runs TypeScript files against the workspace's source, without API keys, one after another in one process, because loading
 * the workspace takes longer than most programs. Each has a working folder of its own and must end by itself: finish its
 * module and leave nothing that would keep a process alive.
 */
export async function runPrograms(
  files: readonly string[],
  { timeoutMs }: { timeoutMs: number },
): Promise<ReadonlyMap<string, Outcome>> {
  const outcomes = new Map<string, Outcome>();
  // A program that takes its process down fails alone: another process runs those that are left.
  for (let left = files; left.length > 0; left = files.filter((file) => !outcomes.has(file))) {
    const ended = await runInOneProcess(left, timeoutMs, outcomes);
    const current = left.find((file) => !outcomes.has(file));
    if (ended !== undefined && current !== undefined)
      outcomes.set(current, { failure: `${current} ${ended}` });
  }
  return outcomes;
}

/**
 * Fills `outcomes` until every program has run, one has failed or the process ends. Resolves with how the process ended if
 * a program ended it.
 */
function runInOneProcess(
  files: readonly string[],
  timeoutMs: number,
  outcomes: Map<string, Outcome>,
): Promise<string | undefined> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/_API_KEY$/.test(name)));
  const child = fork(join(import.meta.dirname, "program-process.ts"), files, {
    cwd: mkdtempSync(join(tmpdir(), "trackside-programs-")),
    env,
    execArgv: ["--conditions=@trackside/source", "--disable-warning=ExperimentalWarning"],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let said = "";
  let hasFailed = false;
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (said += chunk));
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      said += `did not end within ${timeoutMs} ms`;
      child.kill("SIGKILL");
    };
    let timer = setTimeout(giveUp, timeoutMs);
    child.on("message", (message) => {
      const { file, output, failure } = message as ProgramReport; // the only message program-process.ts sends
      hasFailed = failure !== undefined;
      outcomes.set(file, failure === undefined ? { output } : { failure: `${file} ${failure}\n${output}` });
      clearTimeout(timer);
      timer = setTimeout(giveUp, timeoutMs);
    });
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      resolve(hasFailed ? undefined : `ended its process (${code ?? signal})\n${said}`);
    });
  });
}
