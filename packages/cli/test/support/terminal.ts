import { spawn, spawnSync } from "node:child_process";
import { cleanEnvironment, command, PATIENCE_MS, root } from "./cli.ts";

const SCRIPT = "script";

/** Why there is no terminal to test on, if so. */
export const noTerminal: string | undefined =
  process.platform !== "linux" || spawnSync(SCRIPT, ["--version"]).status !== 0
    ? "needs `script` of util-linux (apt-get install bsdutils)"
    : undefined;

export interface Terminal {
  /** Waits until the text has appeared, after what earlier calls waited for. */
  see(text: string | RegExp): Promise<void>;
  type(text: string): void;
  /** Resolves to the exit code. */
  readonly ended: Promise<number | null>;
  /** Everything so far, escape sequences and all. */
  readonly raw: string;
}

/** Runs the command in a pseudo-terminal. */
export function terminal(args: readonly string[], env: Record<string, string> = {}, cwd = root): Terminal {
  const quoted = [...command, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const child = spawn(SCRIPT, ["-qec", `stty cols 90 rows 40; exec ${quoted}`, "/dev/null"], {
    cwd,
    env: { ...cleanEnvironment(env), TERM: "xterm-256color" },
    timeout: PATIENCE_MS,
  });
  let raw = "";
  let seen = 0;
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const look of waiting) look();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    raw += text;
    wake();
  });
  let code: number | null | undefined;
  const ended = new Promise<number | null>((done) => {
    child.on("close", (exit) => {
      code = exit;
      wake();
      done(exit);
    });
  });
  return {
    ended,
    get raw() {
      return raw;
    },
    type: (text) => {
      child.stdin.write(text);
    },
    see: (text) =>
      new Promise((done, failed) => {
        const look = () => {
          const rest = plain(raw).slice(seen);
          const at = typeof text === "string" ? rest.indexOf(text) : rest.search(text);
          const length = typeof text === "string" ? text.length : (text.exec(rest)?.[0].length ?? 0);
          if (at < 0 && code === undefined) return;
          waiting.delete(look);
          if (at < 0)
            return failed(new Error(`it ended (${code}) without ${text}; after what was seen:\n${rest}`));
          seen += at + length;
          done();
        };
        waiting.add(look);
        look();
      }),
  };
}

/** What is on the screen, near enough: without colours and cursor movements. */
export function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what is looked for
  return text.replaceAll(/\x1b\[[0-9;?]*[A-Za-z]|\r/g, "");
}
