import { randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Agent } from "trackside";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openRoom, type Room, until } from "./support/room.ts";

/** Looks like nothing that would be there anyway. */
const CANARY = `canary-${randomBytes(12).toString("hex")}`;

let provider: Server;
let room: Room;
const asked: string[] = [];

/** A provider that says everything it was told back, as some do in their errors. */
beforeAll(async () => {
  provider = createServer((request, response) => {
    const key = String(request.headers["authorization"]);
    asked.push(key);
    response.writeHead(401, { "content-type": "application/json" });
    response.end(
      JSON.stringify({
        error: { message: `Incorrect API key provided: ${key.replace("Bearer ", "")} (${CANARY})` },
      }),
    );
  });
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  const { port } = provider.address() as AddressInfo; // it listens
  const agent = new Agent({ name: "asker", model: "openai-compatible:any" });
  room = await openRoom({ host: { agents: [agent], allowHosts: [`127.0.0.1:${port}`] } });
  const admin = room.client("admin");
  await admin.setProvider({
    params: { provider: "openai-compatible" },
    body: { api_key: CANARY, base_url: `http://127.0.0.1:${port}/v1` },
  });
});
afterAll(() => {
  provider.closeAllConnections();
  provider.close();
});

test("a new key is used at once, also by agents that have run before", async () => {
  const admin = room.client("admin");
  const params = { provider: "openai-compatible" };
  for (const api_key of ["first-key-of-the-test", "second-key-of-the-test", CANARY]) {
    await admin.setProvider({ params, body: { api_key } });
    const { run_id } = await admin.startRun({ body: { agent: "asker", input: "Hello" } });
    await room.trackside.runs.result(run_id).catch(() => {});
    expect(asked.at(-1)).toBe(`Bearer ${api_key}`);
  }
});

test("a provider's key is used, and is nowhere to be found", async () => {
  const admin = room.client("admin");
  const seen: unknown[] = [];
  seen.push(await admin.listProviders());
  const tested = await admin.testProvider({
    params: { provider: "openai-compatible" },
    body: { model: "any" },
  });
  expect(tested).toMatchObject({ ok: false, model: "openai-compatible:any" });
  expect(tested.error?.length).toBeLessThan(400);
  seen.push(tested);
  expect(asked).toContain(`Bearer ${CANARY}`);

  const { run_id } = await admin.startRun({ body: { agent: "asker", input: "Hello" } });
  await room.trackside.runs.result(run_id).catch((error: unknown) => seen.push(String(error)));
  const streamed = await admin.streamRun({ params: { id: run_id } });
  seen.push(await streamed.text());
  seen.push(await admin.getRun({ params: { id: run_id } }));
  seen.push(await admin.listEvents({ params: { id: run_id } }));
  seen.push(await admin.exportRun({ params: { id: run_id } }));
  seen.push(await admin.listAudit({}));
  seen.push(await (await admin.metrics()).text());
  seen.push(await (await room.send("/health")).text());
  seen.push(
    await admin.setProvider({ params: { provider: "nothing" }, body: { api_key: CANARY } }).catch(String),
  );
  // A key in the wrong place is not said back either.
  const misplaced = await room.send("/providers/openai", {
    method: "PUT",
    as: "admin",
    body: JSON.stringify({ api_key: { key: CANARY }, apiKey: 1 }),
  });
  seen.push(await misplaced.text());
  const inAddress = await room.send(`/agents/${CANARY}`, { as: "admin" });
  seen.push(await inAddress.text());
  expect(JSON.stringify(seen)).not.toContain(CANARY);
  expect(room.log.join("\n")).not.toContain(CANARY);

  const events = await until(async () => (await admin.listEvents({ params: { id: run_id } })).items.at(-1));
  expect(events).toMatchObject({ type: "status", status: "error" });
  await room.close();
  for (const file of await readdir(room.dir)) {
    const bytes = await readFile(join(room.dir, file));
    for (const form of [
      CANARY,
      Buffer.from(CANARY).toString("base64").slice(0, 20),
      Buffer.from(CANARY).toString("hex"),
    ])
      expect(bytes.includes(form), `${file} holds the key`).toBe(false);
  }
});
