import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request as forward } from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { ServerDefinition } from "trackside/engine";
import type { TestContext } from "vitest";
import { bodyOf, listening } from "./http-server.ts";
import type { Place } from "./place.ts";

const manifest = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-everything/package.json",
);
const PROGRAM = join(dirname(manifest), "dist", "index.js");

/** The server with everything in it, and what the client said to it so far, message by message. */
export interface Everything {
  readonly server: ServerDefinition;
  heard(): { method?: string; params?: Record<string, unknown> }[];
}

export function overStdio(place: Place): Everything {
  const log = place.file("said.jsonl");
  return {
    server: place.fake("tee", "all", log, process.execPath, PROGRAM, "stdio"),
    heard: () => (place.lines("said.jsonl").length === 0 ? [] : readLines(log)),
  };
}

const readLines = (path: string) =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

/** Behind a proxy, which listens in. */
export async function overHttp(
  place: Place,
  { onTestFinished }: Pick<TestContext, "onTestFinished">,
): Promise<Everything> {
  const port = await freePort();
  const child = spawn(process.execPath, [PROGRAM, "streamableHttp", place.mark], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  await saidOn(child, "listening on port");

  const heard: { method?: string }[] = [];
  const proxy = await listening(async (request, response) => {
    const body = request.method === "GET" ? "" : await bodyOf(request);
    if (request.method === "POST") heard.push(...[JSON.parse(body)].flat());
    const { method, url: path, headers } = request;
    const onward = forward({
      port,
      host: "127.0.0.1",
      method,
      path,
      headers: { ...headers, host: `127.0.0.1:${port}` },
    });
    onward.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers).flushHeaders();
      answer.pipe(response).on("error", () => answer.destroy());
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    onward.end(body);
  });
  onTestFinished(async () => {
    await proxy.close();
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  return { server: { name: "all", url: proxy.url }, heard: () => heard };
}

async function freePort(): Promise<number> {
  const { port, close } = await listening(() => undefined);
  await close();
  return port;
}

async function saidOn(child: ChildProcess, words: string): Promise<void> {
  if (child.stderr === null) throw new Error("its stderr is not a pipe");
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    said.push(line);
    if (line.includes(words)) break;
  }
  if (!said.at(-1)?.includes(words)) throw new Error(`it ended: ${said.join("\n")}`);
  child.stderr.resume(); // what it says later must not fill the pipe
}
