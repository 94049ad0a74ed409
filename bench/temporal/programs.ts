/** The processes of a measurement: workers, and whoever starts runs and reads them. */
import { type ChildProcess, fork } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Order } from "./client.ts";
import type { Place } from "./servers.ts";

/** A checkout that was not built is measured from its source. */
const BUILT = ["temporal/dist/worker.js", "host/dist/effects.js"].every((file) =>
  existsSync(join(import.meta.dirname, "../../packages", file)),
);
const CONDITIONS =
  BUILT && process.env.TRACKSIDE_BENCH_SOURCE === undefined ? [] : ["--conditions=@trackside/source"];

export type ProgramName = "worker" | "hand-worker" | "client";

/** A process that was told to do something, once it is ready to. */
export async function started(name: ProgramName, place: Place, args: string[] = []): Promise<ChildProcess> {
  const file = join(import.meta.dirname, `${name}.ts`);
  const child = fork(file, [JSON.stringify(place)], {
    execArgv: [...CONDITIONS, ...args],
    env: { ...process.env, TRACKSIDE_SECRET_KEY: place.key },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const first = await messageOf<string>(child, name);
  if (first !== "ready") throw new Error(`${name} said ${JSON.stringify(first)} before it was ready`);
  return child;
}

export async function ask<T>(client: ChildProcess, order: Order): Promise<T> {
  client.send(order);
  const answer = await messageOf<{ ok: T } | { failed: string }>(client, "client");
  if ("failed" in answer) throw new Error(answer.failed);
  return answer.ok;
}

export function messageOf<T>(child: ChildProcess, name: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const gone = (code: number | null, signal: string | null) =>
      reject(new Error(`${name} ended with ${signal ?? code}`));
    child.once("exit", gone);
    child.once("message", (message) => {
      child.off("exit", gone);
      resolve(message as T); // what that program sends
    });
  });
}

export async function killed(children: readonly ChildProcess[]): Promise<void> {
  await Promise.all(
    children.map((child) => {
      if (child.exitCode !== null || child.signalCode !== null) return undefined;
      const over = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      return over;
    }),
  );
}
