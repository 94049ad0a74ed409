import { join } from "node:path";
import { sqlite, Trackside } from "@trackside/host";
import OpenAI from "openai";
import { Agent } from "trackside";
import { scriptedModel } from "trackside/testing";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { createServer } from "../../src/server.ts";
import { until } from "./stage.ts";

test("X2 a server that closes ends its streams and cancels no run; one whose client leaves does", async () => {
  const home = temporaryFolder("closing");
  const hang = { text: "one two three", hangAfter: 5 };
  const model = scriptedModel([hang, hang]);
  const trackside = new Trackside({
    store: sqlite(join(home, "test.db"), { sync: "normal" }),
    agents: [new Agent({ name: "slow", model })],
    notice: () => {},
  });
  onTestFinished(() => trackside.close());
  const server = createServer({
    trackside,
    port: 0,
    web: false,
    log: () => {},
    auth: async () => ({ tenant: "acme", user: { id: "u1", name: "Una" }, role: "operator", via: "token" }),
  });
  const { url } = await server.listen();
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "tsk_test", maxRetries: 0 });
  const start = (signal?: AbortSignal) =>
    client.chat.completions.create(
      { model: "slow", messages: [{ role: "user", content: "Count" }], stream: true },
      signal ? { signal } : {},
    );
  const read = async (stream: Awaited<ReturnType<typeof start>>) => {
    for await (const _ of stream);
  };

  const leaving = new AbortController();
  const left = read(await start(leaving.signal)).catch(() => {});
  await until(() => model.requests.length === 1);
  leaving.abort();
  await left;
  await until(async () => {
    const [run] = await trackside.runs.list({ tenant: "acme" });
    return run?.status === "cancelled";
  });

  const reading = read(await start());
  await until(() => model.requests.length === 2);
  const closed = server.close({ graceMs: 50_000 });
  await expect(reading).rejects.toThrow(/closes/);
  await closed;
  const [run] = await trackside.runs.list({ tenant: "acme" });
  expect(run?.status).toBe("running");
});
