import { type ChildProcess, spawn } from "node:child_process";

/** Each line is the pid to end at the end, empty for none. Given a moment to end by itself, then killed. */
const WATCH = `
while read -r line; do pid=$line; done
if [ -n "$pid" ]; then
  kill -s "$2" -- "$pid"; kill -s CONT -- "$pid"
  for _ in 1 2 3 4 5 6 7 8 9 10; do kill -s 0 -- "$pid" || break; sleep 0.2; done
  kill -s KILL -- "$pid"
fi
rm -rf "$1" || { sleep 1; rm -rf "$1"; }
`;

/**
 * A shell beside us that reads a pipe from us: when the pipe closes, because we closed it, ended, or were killed, it ends
 * the process it was told of and removes the folder.
 */
export class Watcher {
  readonly #shell: ChildProcess;

  constructor(dir: string, endSignal: NodeJS.Signals) {
    this.#shell = spawn("/bin/sh", ["-c", WATCH, "watch", dir, endSignal.slice("SIG".length)], {
      cwd: "/",
      env: { PATH: `${process.env["PATH"] ?? ""}:/usr/bin:/bin` }, // it needs rm and sleep in a bare environment too
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    });
    this.#shell.stdin?.on("error", () => {}); // somebody ended the watcher: nothing to do about it
    this.#shell.unref();
  }

  /** The process to end, or with a minus its whole group; undefined when it has ended. */
  tell(pid: number | undefined): void {
    this.#shell.stdin?.write(`${pid ?? ""}\n`);
  }

  async close(): Promise<void> {
    if (this.#shell.exitCode !== null) return;
    const cleaned = new Promise((resolve) => this.#shell.once("exit", resolve));
    this.#shell.stdin?.end();
    this.#shell.ref();
    await cleaned;
  }
}
