import { PassThrough } from "node:stream";
import type { Input, Io, Output } from "../../src/io.ts";
import { plain } from "./terminal.ts";

/** A terminal made of streams: what is typed goes in, what is shown comes out. */
export function fakeTerminal(env: Record<string, string> = {}) {
  const raw: boolean[] = [];
  const stdin: Input = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (mode: boolean) => raw.push(mode),
  });
  const stdout: Output = Object.assign(new PassThrough(), { isTTY: true, columns: 100 });
  let shown = "";
  let seen = 0;
  stdout.on("data", (chunk) => {
    shown += chunk;
  });
  const io: Io = { stdin, stdout, stderr: stdout, env, cwd: "/", gone: new AbortController().signal };
  return {
    io,
    raw,
    type: (text: string) => stdin.push(text),
    shown: () => shown,
    /** Waits until the text has appeared, after what earlier calls waited for. */
    async see(text: string): Promise<void> {
      const patience = Date.now() + 30_000;
      while (Date.now() < patience) {
        const at = plain(shown).indexOf(text, seen);
        if (at >= 0) {
          seen = at + text.length;
          return;
        }
        await pause(10);
      }
      throw new Error(
        `there was no ${JSON.stringify(text)}; after what was seen:\n${plain(shown).slice(seen)}`,
      );
    },
  };
}

export const pause = (ms = 60) => new Promise((resolve) => setTimeout(resolve, ms));
