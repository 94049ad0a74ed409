import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { discoverLocal } from "../../src/local/providers/discover.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function serve(answer: (() => unknown) | "hang"): Promise<string> {
  const server = createServer((_request, response) => {
    if (answer === "hang") return;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(answer()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`; // a string only for pipes
}

const list = (...ids: string[]) => ({ object: "list", data: ids.map((id) => ({ id, object: "model" })) });

it("lists the models of the servers that answer, without those that cannot chat", async () => {
  const ollama = await serve(() => list("llama3.2:3b", "nomic-embed-text"));
  const lmstudio = await serve(() => list("qwen3-4b", "text-embedding-nomic-embed-text-v1.5"));
  const env = { OLLAMA_BASE_URL: ollama, LMSTUDIO_BASE_URL: `${lmstudio}/` };
  expect(await discoverLocal({ env, timeoutMs: 20_000 })).toEqual([
    { provider: "ollama", baseUrl: ollama, models: ["llama3.2:3b"] },
    { provider: "lmstudio", baseUrl: `${lmstudio}/`, models: ["qwen3-4b"] },
  ]);
});

it("leaves out servers that are absent, hang, or are something else, within its time", async () => {
  const hanging = await serve("hang");
  const other = await serve(() => ({ data: "hello" }));
  // Who waits for the one that hangs waits forever.
  expect(await discoverLocal({ env: { OLLAMA_BASE_URL: hanging, LMSTUDIO_BASE_URL: other } })).toEqual([]);
  const closed = { OLLAMA_BASE_URL: "http://127.0.0.1:9/v1", LMSTUDIO_BASE_URL: "no url" };
  expect(await discoverLocal({ env: closed })).toEqual([]);
});
