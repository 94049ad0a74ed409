import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Io, Output } from "../io.ts";
import { messageOf } from "./approver.ts";

/** The user's editor: its name, and the way to have a text changed in it. */
export interface Editor {
  readonly name: string;
  /** Resolves to the text as it was left, or to why there is none. */
  edit(text: string, fileName: string): Promise<{ text: string } | { problem: string }>;
}

/** The editor that VISUAL or EDITOR names, on the terminal. Undefined without one. */
export function editorOf(io: Io, output: Output): Editor | undefined {
  const command = (io.env.VISUAL || io.env.EDITOR)?.trim();
  if (!command) return undefined;
  return {
    name: command,
    async edit(text, fileName) {
      const folder = await mkdtemp(join(tmpdir(), "trackside-"));
      try {
        const path = join(folder, fileName);
        await writeFile(path, text, { mode: 0o600 });
        const problem = await opened(command, path, io, output);
        return problem === undefined ? { text: await readFile(path, "utf8") } : { problem };
      } catch (error) {
        return { problem: messageOf(error) };
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

/** Waits until the editor is closed. A command may have arguments of its own, such as `code --wait`. */
function opened(command: string, path: string, io: Io, output: Output): Promise<string | undefined> {
  const stdio = { stdio: [io.stdin, output, io.stderr] };
  const child =
    process.platform === "win32"
      ? spawn(`${command} "${path}"`, { ...stdio, shell: true })
      : spawn("/bin/sh", ["-c", `${command} "$@"`, command, path], stdio);
  return new Promise((resolve) => {
    child.on("error", (error) => resolve(`${command} cannot be started: ${error.message}`));
    child.on("close", (code) =>
      resolve(code === 0 ? undefined : `${command} ended with ${code ?? "a signal"}`),
    );
  });
}
