import { spawn } from "node:child_process";
import { cleanEnvironment, command, PATIENCE_MS } from "./cli.ts";

/** A command that serves until it is told to stop. */
export interface Served {
  readonly output: string;
  /** Waits for something in what it prints. */
  see(pattern: RegExp): Promise<string>;
  /** Tells it to stop; answers its exit code. */
  stop(): Promise<number | null>;
}

export function served(cwd: string, args: readonly string[], env: Record<string, string> = {}): Served {
  const [node, ...before] = command;
  const child = spawn(node, [...before, ...args], {
    cwd,
    env: cleanEnvironment(env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      for (const listener of listeners) listener();
    });
  const ended = new Promise<number | null>((resolve) => {
    child.once("exit", (code) => {
      resolve(code);
      for (const listener of listeners) listener();
    });
  });
  return {
    get output() {
      return output;
    },
    async see(pattern) {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const look = () => {
        const found = pattern.exec(output)?.[0];
        if (found !== undefined) resolve(found);
        else if (child.exitCode !== null) reject(new Error(`it ended with ${child.exitCode}:\n${output}`));
      };
      const timer = setTimeout(() => reject(new Error(`not seen: ${pattern}\n${output}`)), PATIENCE_MS);
      listeners.add(look);
      look();
      return promise.finally(() => {
        clearTimeout(timer);
        listeners.delete(look);
      });
    },
    async stop() {
      child.kill("SIGTERM");
      return ended;
    },
  };
}
