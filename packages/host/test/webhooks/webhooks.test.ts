import type { ServerResponse } from "node:http";
import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { listAudit } from "../../src/audit/index.ts";
import { Secrets } from "../../src/secrets/index.ts";
import type { Store } from "../../src/store/store.ts";
import {
  enqueueWebhook,
  pruneWebhooks,
  verifyWebhook,
  type WebhookEndpoint,
  WebhookSender,
  type WebhookSenderOptions,
  webhookEventOf,
} from "../../src/webhooks/index.ts";
import { memoryStore, testCipher } from "../secrets/support.ts";
import { allWebhooks, approval, receiver, requested, settableClock } from "./support.ts";

const SECRET = "webhook-secret-of-a-receiver";
const endpoint = (url: string, given: Partial<WebhookEndpoint> = {}): WebhookEndpoint => ({
  name: "ops",
  url,
  secret: SECRET,
  ...given,
});

async function scene(endpoints: readonly WebhookEndpoint[], given: Partial<WebhookSenderOptions> = {}) {
  const store = given.store ?? (await memoryStore());
  const clock = settableClock();
  const cipher = testCipher();
  const errors: unknown[] = [];
  const sender = new WebhookSender({
    store,
    cipher,
    endpoints,
    clock,
    onError: (error) => errors.push(error),
    ...given,
  });
  const queue = (id: string) => store.write(enqueueWebhook(endpoints, requested(id)));
  return { store, clock, cipher, sender, queue, errors };
}

const states = async (store: Store) =>
  (await allWebhooks(store)).map(({ state, attempts }) => [state, attempts]);

describe("a webhook", () => {
  test("is posted once, signed, with an id, and says nothing that anybody wrote", async () => {
    const { url, received } = await receiver();
    const { store, sender, queue, clock } = await scene([endpoint(url)]);
    await queue("ap_1");
    await sender.sendDue();
    await sender.sendDue();
    expect(received).toHaveLength(1);
    const [{ headers, body, method } = { headers: {}, body: "", method: "" }] = received;
    expect(method).toBe("POST");
    expect(headers["content-type"]).toBe("application/json");
    expect(headers["trackside-event-id"]).toBe("ap_1.requested");
    expect(verifyWebhook(body, String(headers["trackside-signature"]), SECRET, { now: clock.now })).toBe(
      true,
    );
    expect(JSON.parse(body)).toMatchObject({
      type: "approval.requested",
      tenant: "a",
      approval: { id: "ap_1", tool: "send_mail", state: "pending" },
    });
    const stored = JSON.stringify(await allWebhooks(store));
    for (const text of [body, stored]) expect(text).not.toMatch(/private|hidden|webhook-secret/);
    expect(await states(store)).toEqual([["delivered", 1]]);
  });

  test("lands with what it tells of, or not at all, and only once", async () => {
    const { store } = await scene([]);
    const to = [endpoint("https://example.org")];
    const refused = store.write(function* (db) {
      yield* enqueueWebhook(to, requested("ap_1"))(db);
      throw new Error("somebody else was first");
    });
    await expect(refused).rejects.toThrow("first");
    expect(await allWebhooks(store)).toEqual([]);
    for (let i = 0; i < 3; i++) await store.write(enqueueWebhook(to, requested("ap_1")));
    expect(await allWebhooks(store)).toHaveLength(1);
  });

  test("goes to whoever wants this kind of event of this tenant", async () => {
    const { store } = await scene([]);
    const url = "https://example.org";
    const to = [
      endpoint(url, { name: "all" }),
      endpoint(url, { name: "decided", events: ["approval.decided"] }),
      endpoint(url, { name: "of-b", tenants: ["b"] }),
    ];
    await store.write(enqueueWebhook(to, requested("ap_1")));
    const decision = { choice: "approve", by: "ann", at: 2000 };
    await store.write(
      enqueueWebhook(to, webhookEventOf("b", approval("ap_2", { state: "approved", decision }))),
    );
    expect((await allWebhooks(store)).map(({ id }) => id)).toEqual([
      "ap_1.requested@all",
      "ap_2.decided@all",
      "ap_2.decided@decided",
      "ap_2.decided@of-b",
    ]);
  });

  test("signs with a secret of the tenant by name, and waits until there is one", async () => {
    const { url, received } = await receiver();
    const { store, sender, queue, clock, cipher } = await scene([
      endpoint(url, { secret: [{ secret: "hook" }, SECRET] }),
    ]);
    await queue("ap_1");
    await sender.sendDue();
    expect(received).toHaveLength(0);
    expect((await allWebhooks(store))[0]?.body).toContain('which the tenant \\"a\\" does not have');
    await new Secrets(store, cipher).set("a", "hook", "the-tenants-own-secret");
    clock.time += 10_000;
    await sender.sendDue();
    const header = String(received[0]?.headers["trackside-signature"]);
    for (const secret of ["the-tenants-own-secret", SECRET])
      expect(verifyWebhook(received[0]?.body ?? "", header, secret, { now: clock.now })).toBe(true);
  });

  test("is removed some time after it is through", async () => {
    const { url } = await receiver();
    const { store, sender, queue } = await scene([endpoint(url)]);
    await queue("ap_1");
    await sender.sendDue();
    await queue("ap_2");
    expect(await store.write(pruneWebhooks(1000))).toBe(0);
    expect(await store.write(pruneWebhooks(1001))).toBe(1);
    expect((await allWebhooks(store)).map(({ id }) => id)).toEqual(["ap_2.requested@ops"]);
  });
});

describe("a receiver that", () => {
  test("fails and then works gets it later, with the same id and a new signature", async () => {
    const { url, received } = await receiver((response, n) => response.writeHead(n === 1 ? 500 : 200).end());
    const { store, sender, queue, clock } = await scene([endpoint(url)]);
    await queue("ap_1");
    await sender.sendDue();
    expect(await states(store)).toEqual([["waiting", 1]]);
    await sender.sendDue(); // not due yet
    expect(received).toHaveLength(1);
    clock.time += 3_750;
    await sender.sendDue();
    expect(await states(store)).toEqual([["delivered", 2]]);
    expect(received.map(({ headers }) => headers["trackside-event-id"])).toEqual([
      "ap_1.requested",
      "ap_1.requested",
    ]);
    expect(received[0]?.headers["trackside-signature"]).not.toBe(received[1]?.headers["trackside-signature"]);
  });

  test("is down is tried again, ever more seldom, and given up in the audit", async () => {
    const url = "http://127.0.0.1:2"; // nobody listens there, and no server of another test is ever given it
    const { store, sender, queue, clock } = await scene([endpoint(url)], { maxAttempts: 4 });
    await queue("ap_1");
    const waits: number[] = [];
    for (let i = 0; i < 4; i++) {
      await sender.sendDue();
      const [row] = await allWebhooks(store);
      if (row?.state !== "waiting") break;
      waits.push(row.next_at - clock.time);
      clock.time = row.next_at;
    }
    expect(waits).toEqual([3750, 7500, 15_000]);
    expect(await states(store)).toEqual([["failed", 4]]);
    const [entry] = await listAudit(store, "a");
    expect(entry).toMatchObject({
      action: "webhook.failed",
      about: { webhook: "ap_1.requested@ops", endpoint: "ops", attempts: 4, last: "ECONNREFUSED" },
    });
    clock.time += 10 ** 9;
    await sender.sendDue();
    expect(await states(store)).toEqual([["failed", 4]]);
  });

  test("hangs, before or after it has begun to answer, holds nobody up", async () => {
    const held: ServerResponse[] = [];
    const silent = await receiver((response) => void held.push(response));
    const halting = await receiver((response) => void response.writeHead(200).write("{"));
    const to = [endpoint(silent.url, { name: "silent" }), endpoint(halting.url, { name: "halting" })];
    const { store, sender } = await scene(to, { timeoutMs: 3_000 });
    await store.write(enqueueWebhook(to, requested("ap_1")));
    await sender.sendDue();
    const [first, second] = await allWebhooks(store);
    expect(first).toMatchObject({ id: "ap_1.requested@halting", state: "delivered" });
    expect(second).toMatchObject({ id: "ap_1.requested@silent", state: "waiting" });
    expect(second?.body).toContain("no answer within 3000 ms");
  });

  test("answers without end is not listened to", async () => {
    let written = 0;
    const { url } = await receiver((response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536))) written += 65_536;
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    });
    const { store, sender, queue } = await scene([endpoint(url)]);
    await queue("ap_1");
    await sender.sendDue();
    expect(await states(store)).toEqual([["delivered", 1]]);
    expect(written).toBeLessThan(64 * 1024 * 1024);
  });

  test("sends elsewhere is not followed", async () => {
    const elsewhere = await receiver();
    const { url } = await receiver((response) => response.writeHead(307, { location: elsewhere.url }).end());
    const { store, sender, queue } = await scene([endpoint(url)]);
    await queue("ap_1");
    await sender.sendDue();
    expect(elsewhere.received).toHaveLength(0);
    expect(await states(store)).toEqual([["waiting", 1]]);
    expect((await allWebhooks(store))[0]?.body).toContain("status 307; redirects are not followed");
  });

  test("asks for time gets it, and one that is gone is not asked again", async () => {
    const busy = await receiver((response) => response.writeHead(429, { "retry-after": "120" }).end());
    const gone = await receiver((response) => response.writeHead(410).end());
    const to = [endpoint(busy.url, { name: "busy" }), endpoint(gone.url, { name: "gone" })];
    const { store, sender, clock } = await scene(to);
    await store.write(enqueueWebhook(to, requested("ap_1")));
    await sender.sendDue();
    const [first, second] = await allWebhooks(store);
    expect((first?.next_at ?? 0) - clock.time).toBe(120_000);
    expect(second?.state).toBe("failed");
  });

  test("talks rubbish or breaks off counts as failed", async () => {
    const server = createServer((socket) => socket.resume().end("SSH-2.0-nothing\r\n"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const { store, sender, queue } = await scene([endpoint(`http://127.0.0.1:${port}`)]);
    await queue("ap_1");
    await sender.sendDue();
    expect(await states(store)).toEqual([["waiting", 1]]);
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
});

describe("senders", () => {
  test("of several processes never send the same one at the same time", async () => {
    const { url, received } = await receiver();
    const store = await memoryStore();
    const to = [endpoint(url)];
    const senders = await Promise.all(Array.from({ length: 4 }, () => scene(to, { store })));
    for (let i = 0; i < 60; i++) await store.write(enqueueWebhook(to, requested(`ap_${i}`)));
    await Promise.all(senders.map(({ sender }) => sender.sendDue()));
    for (const { sender } of senders) await sender.sendDue();
    expect(received).toHaveLength(60);
    expect(new Set(received.map(({ headers }) => headers["trackside-event-id"])).size).toBe(60);
  });

  test("that die leave what they had claimed to others", async () => {
    const { url, received } = await receiver();
    const store = await memoryStore();
    const to = [endpoint(url)];
    await store.write(enqueueWebhook(to, requested("ap_1")));
    let writes = 0;
    const dying: Store = {
      ...boundTo(store),
      write: (work) => (++writes === 1 ? store.write(work) : new Promise<never>(() => {})),
    };
    void (await scene(to, { store: dying })).sender.sendDue(); // claims it, and never gets to write what came of it
    await until(() => received.length === 1 && writes === 2);
    const { sender, clock } = await scene(to, { store });
    await sender.sendDue();
    expect(received).toHaveLength(1); // still claimed
    clock.time += 60_000;
    await sender.sendDue();
    expect(received).toHaveLength(2); // at least once
    expect(await states(store)).toEqual([["delivered", 2]]);
  });

  test("that are late do not undo what a later attempt has written", async () => {
    const held: ServerResponse[] = [];
    const { url, received } = await receiver((response, n) => {
      if (n === 1) held.push(response);
      else response.writeHead(500).end();
    });
    const store = await memoryStore();
    const to = [endpoint(url)];
    await store.write(enqueueWebhook(to, requested("ap_1")));
    const late = await scene(to, { store, timeoutMs: 60_000 });
    const sending = late.sender.sendDue();
    await until(() => received.length === 1);
    const next = await scene(to, { store });
    next.clock.time += 200_000; // the claim has lapsed
    await next.sender.sendDue();
    const written = await allWebhooks(store);
    expect(written[0]).toMatchObject({ state: "waiting", attempts: 2 });
    held[0]?.writeHead(503).end();
    await sending;
    expect(await allWebhooks(store)).toEqual(written);
  });

  test("keep room for others when one receiver hangs, and never have too many under way", async () => {
    let most = 0;
    const open = new Set<ServerResponse>();
    const hanging = await receiver((response) => {
      open.add(response);
      most = Math.max(most, open.size);
    });
    const quick = await receiver();
    const to = [endpoint(hanging.url, { name: "hanging" }), endpoint(quick.url, { name: "quick" })];
    const { store, sender } = await scene(to, { concurrency: 4, timeoutMs: 60_000, pollMs: 5 });
    for (let i = 0; i < 20; i++) await store.write(enqueueWebhook(to, requested(`ap_${i}`)));
    sender.start();
    await until(() => quick.received.length === 20 && most >= 2);
    expect(most).toBe(2);
    await sender.stop({ graceMs: 0 });
  });

  test("start, hear of new ones, and stop without waiting for those that hang", async () => {
    const { url, received } = await receiver((response, n) => {
      if (n === 1) response.end();
    });
    const { store, sender, queue, errors } = await scene([endpoint(url)], { timeoutMs: 60_000 });
    sender.start();
    sender.start();
    await queue("ap_1");
    sender.wake();
    await until(async () => (await states(store))[0]?.[0] === "delivered");
    await queue("ap_2");
    sender.wake();
    await until(() => received.length === 2);
    await sender.stop({ graceMs: 0 });
    expect((await allWebhooks(store))[1]).toMatchObject({ state: "waiting", attempts: 1 });
    await queue("ap_3");
    sender.wake();
    await sender.sendDue();
    expect(received).toHaveLength(2);
    expect(errors).toEqual([]);
  });

  test("live on when the store fails for a while", async () => {
    const { url, received } = await receiver();
    const store = await memoryStore();
    let down = true;
    const shaky: Store = {
      ...boundTo(store),
      read: (work) => (down ? Promise.reject(new Error("restarting")) : store.read(work)),
    };
    const { sender, errors } = await scene([endpoint(url)], { store: shaky, pollMs: 5 });
    await store.write(enqueueWebhook([endpoint(url)], requested("ap_1")));
    sender.start();
    await until(() => errors.length > 1);
    down = false;
    await until(() => received.length === 1);
    await sender.stop();
  });

  test("that do not know an endpoint leave it for those that do", async () => {
    const { url, received } = await receiver();
    const store = await memoryStore();
    await store.write(enqueueWebhook([endpoint(url)], requested("ap_1")));
    const { sender } = await scene([endpoint(url, { name: "other" })], { store });
    await sender.sendDue();
    expect(await states(store)).toEqual([["waiting", 1]]);
    const knowing = await scene([endpoint(url)], { store });
    knowing.clock.time += 10_000;
    await knowing.sender.sendDue();
    expect(received).toHaveLength(1);
  });
});

test("endpoints are checked where they are configured, all at once, without showing an address", () => {
  const make = (endpoints: readonly WebhookEndpoint[]) => () =>
    new WebhookSender({ store: {} as Store, cipher: testCipher(), endpoints }); // never asked
  const wrong = [
    endpoint("ftp://example.org/token-in-path", { name: "a b" }),
    endpoint("not a url", { secret: "short" }),
    endpoint("https://user:pass@example.org", { name: "twice" }),
    endpoint("https://example.org", { name: "twice", secret: [] }),
  ];
  expect(make(wrong)).toThrow(/webhooks\[0\]\.name[\s\S]*webhooks\[0\]\.url: http or https expected, "ftp:"/);
  expect(make(wrong)).toThrow(
    /webhooks\[1\]\.url[\s\S]*webhooks\[1\]\.secret[\s\S]*webhooks\[2\]\.url[\s\S]*webhooks\[3\]\.secret[\s\S]*two endpoints are called "twice"/,
  );
  expect(make(wrong)).not.toThrow(/token-in-path|pass@|short given/);
});

function boundTo(store: Store): Store {
  return {
    name: store.name,
    open: () => store.open(),
    close: () => store.close(),
    write: (work) => store.write(work),
    read: (work) => store.read(work),
    append: (entry, work) => store.append(entry, work),
    onChange: (listener) => store.onChange(listener),
  };
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 2));
}
