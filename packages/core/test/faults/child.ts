import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { vi } from "vitest";

const PATIENCE_MS = 120_000;
vi.setConfig({ testTimeout: PATIENCE_MS + 30_000 });

export type Child = {
  /** What it printed, line by line, as JSON. */
  lines: unknown[];
  code: number | null;
  /** Between its last line and its end. */
  lingeredMs: number;
  stderr: string;
};

const PRELUDE = `
  import { Agent, defineTool, localEngine } from ${JSON.stringify(import.meta.resolve("../../src/index.ts"))};
  import { scriptedModel } from ${JSON.stringify(import.meta.resolve("../../src/testing/scripted-model.ts"))};
  import { setTimeout as sleep } from "node:timers/promises";
  import { getEventListeners } from "node:events";
  const print = (value) => console.log(JSON.stringify(value));
`;

/** Runs a script in a Node process of its own, which has to end by itself. */
export function inChild(script: string): Promise<Child> {
  const args = [
    "--input-type=module",
    "--no-warnings",
    "--conditions=@trackside/source",
    "-e",
    PRELUDE + script,
  ];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], timeout: PATIENCE_MS });
  return new Promise((resolve, reject) => {
    const lines: unknown[] = [];
    let last = performance.now();
    let stderr = "";
    createInterface(child.stdout).on("line", (line) => {
      last = performance.now();
      lines.push(JSON.parse(line));
    });
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    child.on("error", reject);
    child.on("exit", () => {
      const exited = performance.now();
      child.on("close", (code) => resolve({ lines, code, lingeredMs: exited - last, stderr }));
    });
  });
}
