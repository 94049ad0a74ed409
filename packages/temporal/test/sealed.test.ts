import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { Connection, WorkflowClient } from "@temporalio/client";
import { NativeConnection } from "@temporalio/worker";
import { cipher, keyring, sqlite, Trackside } from "@trackside/host";
import { Agent } from "trackside";
import { scriptedModel } from "trackside/testing";
import { expect, test } from "vitest";
import { serviceSuite, sharedTemporal } from "../../../scripts/services/index.ts";
import { temporaryFolder } from "../../../scripts/testing/temporary-folder.ts";
import { temporal } from "../src/client/index.ts";
import { sealedPayloads } from "../src/common/sealed-payloads.ts";
import { createWorker } from "../src/worker/index.ts";
import { bundleFile } from "./support/bundle-file.ts";
import "./support/runtime.ts";

const keys = keyring({ current: "k1", keys: { k1: Buffer.alloc(32, 7) } });
const utf8 = new TextEncoder();

test("what is sealed is opened again, whatever it is", async () => {
  const codec = sealedPayloads(cipher(keys));
  const payloads = [
    { metadata: { encoding: utf8.encode("json/plain") }, data: utf8.encode('{"a":"é"}') },
    { metadata: { encoding: utf8.encode("binary/null") }, data: new Uint8Array() },
  ];
  const sealed = await codec.encode(payloads);
  expect(Buffer.concat(sealed.map(({ data }) => data ?? new Uint8Array())).includes("é")).toBe(false);
  const opened = await codec.decode(sealed);
  expect(opened.map(({ data }) => Buffer.from(data ?? []).toString())).toEqual(['{"a":"é"}', ""]);
  expect(opened.map(({ metadata }) => Buffer.from(metadata?.["encoding"] ?? []).toString())).toEqual([
    "json/plain",
    "binary/null",
  ]);
  // What was written before there was a key.
  expect(await codec.decode(payloads)).toEqual(payloads);
});

/** Every payload of a history, as it is there. */
function bytesIn(value: unknown): string[] {
  if (value instanceof Uint8Array) return [Buffer.from(value).toString("latin1")];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(bytesIn) : [];
}

await serviceSuite("with a key", sharedTemporal, ({ address }) => {
  test("X9 nothing of a sub-agent's job is readable in the histories", async () => {
    const dir = temporaryFolder("sealed");
    const connection = await Connection.connect({ address });
    const native = await NativeConnection.connect({ address });
    const job = { task: "find the marzipan", system_prompt: "You look for marzipan." };
    const model = scriptedModel(
      (function* () {
        yield { calls: [{ tool: "spawn_parallel", args: { jobs: [job] } }] };
        yield "here it is";
        yield "done";
      })(),
    );
    const agent = new Agent({ name: "chief", model, allowParallelSubagents: true });
    const taskQueue = `sealed-${randomUUID()}`;
    const trackside = new Trackside({
      store: sqlite(join(dir, "trackside.db"), { sync: "normal" }),
      agents: [agent],
      engine: temporal({ connection, taskQueue, keyring: keys }),
    });
    const options = { workflowBundle: { codePath: await bundleFile() } };
    const worker = await createWorker({ connection: native, taskQueue, trackside, keyring: keys, options });
    const running = worker.run();
    try {
      const result = await trackside.run("chief", "Go");
      expect(result.output).toBe("done");
      const workflows = new WorkflowClient({ connection });
      const history = await workflows.getHandle(result.runId).fetchHistory();
      const written = bytesIn(history).join("\n");
      expect(written).toContain("trackside-sealed");
      expect(written).not.toContain("marzipan");
    } finally {
      worker.shutdown();
      await running;
      await trackside.close();
      await connection.close();
      await native.close();
    }
  });
});
