import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { describe, expect, test, vi } from "vitest";
import { wordsOf } from "./support/expecting.ts";
import { Place } from "./support/place.ts";
import { processesWith } from "./support/processes.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

describe.concurrent("M1 connections", () => {
  test("are not shared by runs at the same time, and serve the next run", async (context) => {
    const place = new Place(context);
    const [one, two] = await Promise.all([
      place.connect(place.fake("good")),
      place.connect(place.fake("good")),
    ]);
    const pids = [wordsOf(await one.call("good__whoami")), wordsOf(await two.call("good__whoami"))];
    expect(new Set(pids).size).toBe(2);
    one.connected.release();
    const three = await place.connect(place.fake("good"));
    expect(wordsOf(await three.call("good__whoami"))).toBe(pids[0]);
  });

  test("are never shared by tenants", async (context) => {
    const place = new Place(context);
    const first = await place.connect(place.fake("good"));
    const pid = wordsOf(await first.call("good__whoami"));
    first.connected.release();
    const other = await place.connectAs("another tenant", place.fake("good"));
    expect(wordsOf(await other.call("good__whoami"))).not.toBe(pid);
  });

  test("with a call that nobody waits for any more do not serve the next run", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("hangs-on-call", "slow", place.file("notices")));
    const call = session.start("slow__hang");
    await session.call("slow__echo");
    call.cancel();
    await expect(call.result).rejects.toThrow();
    const [before] = processesWith(place.mark);
    session.connected.release();
    const next = await place.connect(place.fake("hangs-on-call", "slow", place.file("notices")));
    expect(wordsOf(await next.call("slow__echo"))).toContain("still here");
    expect(processesWith(place.mark)).not.toContain(before);
  });

  test("that are not kept end with their run", async (context) => {
    const place = new Place(context, { keepMs: 0 });
    const session = await place.connect(place.fake("good"));
    await session.call("good__whoami");
    session.connected.release();
    await place.noProcesses();
  });

  test("of a closed hub fail with a sentence, and none is opened any more", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("good"));
    const open = session.start("good__until-cancelled");
    await vi.waitFor(() => expect(open.happened.length).toBe(1), { timeout: 50_000 });
    await place.hub.close();
    await expect(open.result).rejects.toThrow(/good/);
    await expect(session.call("good__whoami")).rejects.toThrow(/clos|over/);
    await expect(place.connect(place.fake("good"))).rejects.toThrow(/clos/);
  });

  test("are of no use to a run that gave them back, once or twice", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("good"));
    session.connected.release();
    session.connected.release();
    await expect(session.call("good__whoami")).rejects.toThrow(/good/);
    const [one, two] = await Promise.all([
      place.connect(place.fake("good")),
      place.connect(place.fake("good")),
    ]);
    expect(wordsOf(await one.call("good__whoami"))).not.toBe(wordsOf(await two.call("good__whoami")));
  });

  test("carry many calls at once, each with its own answer", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("good"));
    const calls = Array.from({ length: 200 }, (_, a) => session.call("good__add", { a, b: 1 }));
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 200 }, (_, a) => String(a + 1)));
  });

  test("are made anew for one that was lost, once, however many calls wait for it", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("exits-mid-call", "mortal"));
    await expect(session.call("mortal__die")).rejects.toThrow();
    const calls = Array.from({ length: 5 }, () => session.call("mortal__echo"));
    for (const result of await Promise.all(calls)) expect(wordsOf(result)).toContain("alive");
    expect(processesWith(place.mark).length).toBe(1);
  });
});

// Not beside others, which start processes too.
test("M1 connections that died while no run held them are not given to the next run", async (context) => {
  const place = new Place(context);
  const started = Promise.withResolvers<ChildProcess>();
  const note = (message: unknown) => started.resolve((message as { process: ChildProcess }).process); // as Node documents
  subscribe("child_process", note);
  const first = await place.connect(place.fake("good"));
  unsubscribe("child_process", note);
  first.connected.release();
  const server = await started.promise;
  const ended = once(server, "close"); // after the hub, which listens since the process started
  server.kill("SIGKILL");
  await ended;
  const next = await place.connect(place.fake("good"));
  expect(wordsOf(await next.call("good__add", { a: 1, b: 2 }))).toContain("3");
});

describe.concurrent("M4 what a server is given", () => {
  test("is not repeated by us when it repeats it", async (context) => {
    const place = new Place(context, { secrets: async (name) => `the value of ${name}` });
    const env = { LICENCE: { secret: "licence" } };
    const connecting = place.connect({ ...place.fake("exits-at-once", "leaky", ""), env });
    const error = await connecting.then(
      () => expect.unreachable(),
      (reason: unknown) => String(reason),
    );
    expect(error).toMatch(/leaky.*no licence key found/s);
    expect(error).not.toContain("the value of licence");
  });

  test("does not pass through a shell", async (context) => {
    const place = new Place(context);
    const args = [...(place.fake("good").args ?? []), "$(touch pwned)", "; exit 1", "`id`", "*"];
    const session = await place.connect({ ...place.fake("good"), args });
    expect(wordsOf(await session.call("good__add", { a: 1, b: 2 }))).toContain("3");
  });
});
