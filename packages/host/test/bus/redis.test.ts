import { createClient } from "redis";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { redisServer, serviceSuite } from "../../../../scripts/services/index.ts";
import { type RedisBusOptions, redisBus } from "../../src/bus/index.ts";
import { busConformance } from "./conformance.ts";
import { cutAndResume, recordedRun, screen } from "./cut-anywhere.ts";
import { committed, hasText, hasType, joined, message, pieces, RUN, text, until, wake } from "./items.ts";

let prefixes = 0;
/** Redis answers when it gets a turn, and a restart waits for its ports and files. */
const PATIENCE = { timeout: 60_000 };

await serviceSuite("the bus on Redis", redisServer, (redis) => {
  /** Buses that see each other, and nothing of another test. */
  const family = (options: Partial<RedisBusOptions> = {}) => {
    const prefix = `test-${prefixes++}:`;
    return () => redisBus({ url: redis.url, prefix, flushMs: 1, ...options });
  };

  const pair = (options: Partial<RedisBusOptions> = {}) => {
    const make = family(options);
    const [into, outOf] = [make(), make()];
    onTestFinished(async () => {
      await Promise.all([into.close(), outOf.close()]);
    });
    return { into, outOf, make };
  };

  describe("within one process", () => {
    busConformance((limits) => {
      const bus = family(limits)();
      return { into: bus, outOf: bus };
    });
  });

  describe("between two", () => {
    busConformance((limits) => {
      const make = family(limits);
      return { into: make(), outOf: make() };
    });
  });

  test("a restart of Redis loses nothing of the open message, and readers are told", async () => {
    const { into, outOf, make } = pair();
    const live = outOf.subscribe(RUN);
    into.publish(RUN, text(0, "before"));
    await until(live, hasText("before"));
    await redis.restart();
    into.publish(RUN, text(6, " and after"));
    const items = await until(
      live,
      (read) => hasType("gap")(read) && read.some((item) => item.type === "text_delta"),
    );
    expect(items).toContainEqual(text(6, " and after"));
    const late = make();
    onTestFinished(() => late.close());
    expect(joined(await until(late.subscribe(RUN), hasText("before and after")))).toBe("before and after");
  });

  test("while Redis is dead, publishing goes on, readers in the same process too; then all goes out", async () => {
    const { into, outOf } = pair();
    const far = outOf.subscribe(RUN);
    const near = into.subscribe(RUN);
    into.publish(RUN, wake("first"));
    await until(far, hasType("wake"));
    await redis.kill();
    const whole = "spoken into the void ".repeat(200);
    for (const delta of pieces(whole, 7)) into.publish(RUN, delta);
    into.publish(RUN, committed(8));
    into.publish(RUN, wake("approval"));
    expect(joined(await until(near, hasText(whole)))).toBe(whole);
    await redis.restart();
    const items = await until(
      far,
      (read) =>
        (["wake", "committed", "gap"] as const).every((type) => hasType(type)(read)) && hasText(whole)(read),
    );
    expect(items).toContainEqual(wake("approval"));
  });

  test("a Redis that is unreachable at the start is found when it comes", async () => {
    await redis.kill();
    const errors: Error[] = [];
    const { into, outOf } = pair({ onError: (error) => void errors.push(error) });
    const live = outOf.subscribe(RUN);
    into.publish(RUN, text(0, "early"));
    await vi.waitFor(() => expect(errors.length).toBeGreaterThan(0), PATIENCE);
    await redis.restart();
    const items = await until(live, hasText("early"));
    expect(hasType("gap")(items)).toBe(true);
    // Each bus reports the outage once, however often it tries.
    expect(errors.length).toBeLessThanOrEqual(2);
  });

  test("a frozen Redis holds up nobody", async () => {
    const { into, outOf } = pair();
    const live = outOf.subscribe(RUN);
    into.publish(RUN, wake("first"));
    await until(live, hasType("wake"));
    process.kill(redis.pid, "SIGSTOP");
    const whole = "waiting ".repeat(500);
    try {
      for (const delta of pieces(whole, 8)) into.publish(RUN, delta);
    } finally {
      process.kill(redis.pid, "SIGCONT");
    }
    expect(joined(await until(live, hasText(whole)))).toBe(whole);
  });

  test("closing does not wait for a Redis that does not answer", async () => {
    const { into, outOf } = pair();
    const live = outOf.subscribe(RUN);
    into.publish(RUN, wake("first"));
    await until(live, hasType("wake"));
    process.kill(redis.pid, "SIGSTOP");
    try {
      into.publish(RUN, wake("never"));
      await Promise.all([into.close(), outOf.close()]);
      expect((await live.next()).done).toBe(true);
    } finally {
      process.kill(redis.pid, "SIGCONT");
    }
  });

  test("a flush of the server is noticed by nobody who reads", async () => {
    const { into, outOf, make } = pair();
    const live = outOf.subscribe(RUN);
    into.publish(RUN, text(0, "before"));
    await until(live, hasText("before"));
    await inRedis((client) => client.flushAll());
    into.publish(RUN, text(6, " after"));
    expect(await live.next()).toEqual({ done: false, value: text(6, " after") });
    // Who comes now does not get the beginning, and is told so.
    const late = make();
    onTestFinished(() => late.close());
    const items = await until(late.subscribe(RUN), (read) => read.some((item) => item.type === "text_delta"));
    expect(items).toEqual([{ type: "gap", run_id: RUN }, text(6, " after")]);
  });

  test("a long message takes up few entries, and a late reader gets it whole", async () => {
    const { into, outOf, make } = pair();
    const live = outOf.subscribe(RUN);
    let whole = "";
    for (let n = 0; n < 400; n++) {
      into.publish(RUN, text(whole.length, `${n} `));
      whole += `${n} `;
      // Each is an entry of its own, since the one before has arrived.
      let read = "";
      while (!read.endsWith(`${n} `)) {
        const { value } = await live.next();
        if (value?.type === "text_delta") read += value.text;
      }
    }
    const key = await inRedis((client) => client.keys("test-*:run:*"));
    const lengths = await inRedis((client) => Promise.all(key.map((name) => client.xLen(name))));
    expect(Math.max(...lengths)).toBeLessThan(200);
    const late = make();
    onTestFinished(() => late.close());
    expect(joined(await until(late.subscribe(RUN), hasText(whole)))).toBe(whole);
  });

  test("every key expires, and that of an ended run holds one entry", async () => {
    const prefix = `test-expiry-${prefixes++}:`;
    const bus = redisBus({ url: redis.url, prefix });
    onTestFinished(() => bus.close());
    const reader = redisBus({ url: redis.url, prefix });
    onTestFinished(() => reader.close());
    const live = reader.subscribe(RUN);
    bus.publish(RUN, text(0, "a"));
    await until(live, hasText("a"));
    const ttls = async () =>
      inRedis(async (client) =>
        Promise.all((await client.keys(`${prefix}*`)).map((key) => client.pTTL(key))),
      );
    await vi.waitFor(async () => {
      expect((await ttls()).length).toBeGreaterThanOrEqual(2);
      for (const ttl of await ttls()) expect(ttl).toBeGreaterThan(0);
    }, PATIENCE);
    bus.publish(RUN, committed(9));
    bus.finish(RUN);
    await until(live, hasType("committed"));
    await vi.waitFor(async () => {
      expect(await inRedis((client) => client.xLen(`${prefix}run:${RUN}`))).toBe(1);
      expect(await inRedis((client) => client.pTTL(`${prefix}run:${RUN}`))).toBeLessThanOrEqual(60_000);
    }, PATIENCE);
  });

  test("what others put into its keys breaks nothing", async () => {
    const prefix = `test-junk-${prefixes++}:`;
    const { into, outOf } = pair({ prefix });
    await inRedis(async (client) => {
      await client.xAdd(`${prefix}run:${RUN}`, "*", { hello: "world" });
      await client.xAdd(`${prefix}run:${RUN}`, "*", {
        by: "x",
        n: "1",
        items: '[{}, 1, {"type":"later_version"}]',
      });
      await client.xAdd(`${prefix}run:${RUN}`, "*", { by: "x", n: "2", items: "no json" });
      await client.set(`${prefix}run:clash`, "a string");
    });
    const live = outOf.subscribe(RUN);
    into.publish("clash", text(0, "refused"));
    into.publish(RUN, text(0, "fine"));
    expect(joined(await until(live, hasText("fine")))).toBe("fine");
  });

  test("an entry that went missing is a gap", async () => {
    const prefix = `test-missing-${prefixes++}:`;
    const { outOf } = pair({ prefix });
    const live = outOf.subscribe(RUN);
    const entry = (n: number, item: unknown) => ({
      by: "other",
      n: String(n),
      items: JSON.stringify([item]),
    });
    const add = (n: number, item: unknown) =>
      inRedis((client) => client.xAdd(`${prefix}run:${RUN}`, "*", entry(n, item)));
    await add(1, wake("a"));
    expect(await until(live, hasType("wake"))).toEqual([wake("a")]);
    await add(3, wake("b"));
    expect(await until(live, hasType("wake"))).toEqual([{ type: "gap", run_id: RUN }, wake("b")]);
  });

  test("a second process that takes the run over goes on where readers are", async () => {
    const { into: first, outOf, make } = pair();
    const second = make();
    onTestFinished(() => second.close());
    const live = outOf.subscribe(RUN);
    first.publish(RUN, text(0, "lost with its pro"));
    await until(live, hasText("lost with its pro"));
    await first.close();
    second.publish(RUN, committed(5));
    second.publish(RUN, text(0, "made again", { after_seq: 5, message_id: message(2), attempt: 2 }));
    const items = await until(live, (read) => joined(read, message(2)) === "made again");
    expect(items).toContainEqual(committed(5));
  });

  test("E4 the stream of a run cut at every event and resumed in another process gives the same transcript", async () => {
    const events = await recordedRun();
    const durable = events.filter((event) => "seq" in event);
    for (let cut = 0; cut <= events.length; cut += 5) {
      const make = family();
      const [into, outOf] = [make(), make()];
      const seen = await cutAndResume(events, cut, { into, outOf });
      expect(seen.filter((event) => "seq" in event)).toEqual(durable);
      expect(screen(seen)).toEqual(screen(events));
      await Promise.all([into.close(), outOf.close()]);
    }
  });

  async function inRedis<T>(work: (client: ReturnType<typeof plainClient>) => Promise<T>): Promise<T> {
    const client = plainClient(redis.url);
    await client.connect();
    try {
      return await work(client);
    } finally {
      client.destroy();
    }
  }
});

const plainClient = (url: string) => createClient({ url, RESP: 2 });

test("an address that is none is refused at once, without showing a password", () => {
  expect(() => redisBus("localhost:6379")).toThrow(/begins with "localhost:.*redis:\/\//);
  expect(() => redisBus("not a url")).toThrow("is no URL");
  try {
    redisBus("http://me:secret@host");
  } catch (error) {
    expect(String(error)).not.toContain("secret");
  }
});
