import { describe, expect, test } from "vitest";
import { PATIENT } from "../support/patience.ts";
import { startWireServer, wires } from "../support/wire-server.ts";
import { inChild } from "./child.ts";

const STALL = { stall: true } as const;
/** Whatever could keep the process alive lasts at least 50 s: timers of the runs, and sockets kept for the next request. */
const LINGERS_MS = 40_000;
const KEPT_ALIVE = { keepAliveMs: 120_000 };

/** An engine whose model is at this place, for a child process. */
const engineAt = (origin: string) =>
  `localEngine({ providers: { openai: { baseUrl: "${origin}/v1", apiKey: "test-key" } }, retry: { retries: 1, baseMs: 1, maxMs: 2 } })`;

describe("a process ends when its runs have ended", () => {
  test("X5 after one turn with a scripted model", async () => {
    const child = await inChild(`
      const { output } = await new Agent({ name: "a", model: scriptedModel(["fine"]) }).run("go");
      print(output);`);
    expect(child).toMatchObject({ code: 0, lines: ["fine"] });
    expect(child.lingeredMs).toBeLessThan(LINGERS_MS);
  });

  test("X5 after one turn over HTTP, with a tool", async () => {
    await using server = await startWireServer(
      [
        { events: wires.openaiResponses.toolCall({ name: "add", args: {} }) },
        { events: wires.openaiResponses.text("fine") },
      ],
      KEPT_ALIVE,
    );
    const child = await inChild(`
      const add = defineTool({ name: "add", execute: () => 5 });
      const { output } = await new Agent({ name: "a", model: "openai:m", tools: [add] })
        .run("go", { engine: ${engineAt(server.origin)} });
      print(output);`);
    expect(child).toMatchObject({ code: 0, lines: ["fine"] });
    expect(child.lingeredMs).toBeLessThan(LINGERS_MS);
  });

  test("X5 after a run that was cancelled while its model, its tool or its wait hung", async () => {
    const events = wires.openaiResponses.text("one two three");
    await using server = await startWireServer(
      (number) =>
        [STALL, { events, ...STALL, stallAtEvent: 5 }, { status: 429, headers: { "retry-after": "50" } }][
          number
        ] ?? {},
      KEPT_ALIVE,
    );
    const child = await inChild(`
      const engine = ${engineAt(server.origin)};
      const hang = defineTool({ name: "hang", timeoutMs: 60_000, execute: () => new Promise(() => {}) });
      const scripted = { name: "b", model: scriptedModel([{ calls: [{ tool: "hang" }] }]), tools: [hang] };
      for (const config of [...Array(3).fill({ name: "a", model: "openai:m" }), scripted]) {
        const signal = AbortSignal.timeout(150);
        print(await new Agent(config).run("go", { engine, signal }).catch((error) => error.code));
      }`);
    expect(child).toMatchObject({ code: 0, stderr: "", lines: Array(4).fill("cancelled") });
    expect(child.lingeredMs).toBeLessThan(LINGERS_MS);
    await expect.poll(() => server.openStreams, PATIENT).toBe(0);
  });
});

describe("runs leave nothing behind", () => {
  test("X5 two hundred cancelled and two hundred failed runs keep no timer, socket or listener", async () => {
    const events = wires.openaiResponses.text("one two three");
    await using server = await startWireServer(
      (number, { body }) =>
        JSON.stringify(body).includes("hang")
          ? { events, ...STALL, stallAtEvent: number % events.length }
          : { events, cutAfterEvents: 6 },
      KEPT_ALIVE,
    );
    const child = await inChild(`
      const engine = ${engineAt(server.origin)};
      const agent = new Agent({ name: "a", model: "openai:m" });
      const shared = new AbortController();
      const one = async (_, i) => {
        const hangs = i % 2 === 0;
        const stream = agent.stream(hangs ? "hang" : "break", { engine, signal: shared.signal });
        const ended = stream.result.catch((error) => error.code);
        if (hangs) setTimeout(() => stream.cancel(), 25);
        return ended;
      };
      const many = async (count) => {
        const codes = {};
        for (let left = count; left > 0; left -= 20)
          for (const code of await Promise.all(Array.from({ length: 20 }, one))) codes[code] = (codes[code] ?? 0) + 1;
        return codes;
      };
      const open = () => ({
        resources: process.getActiveResourcesInfo().filter((kind) => kind !== "PipeWrap" && kind !== "TTYWrap").length,
        handles: process._getActiveHandles().length,
        listeners: getEventListeners(shared.signal, "abort").length,
      });
      /** What stays open: sockets take a moment to close. */
      const kept = async (isEnough) => {
        let seen = open();
        for (let looks = 0; looks < 300 && !isEnough(seen); looks++) {
          await sleep(100);
          seen = open();
        }
        return seen;
      };
      const before = open();
      const codes = await many(400);
      const after = await kept(({ resources, handles, listeners }) =>
        listeners === 0 && resources <= before.resources + 2 && handles <= before.handles + 2);
      print({ codes, before, after });`);
    expect(child.stderr).toBe("");
    const [seen] = child.lines as { codes: Record<string, number>; before: Open; after: Open }[]; // printed above
    expect(Object.keys(seen?.codes ?? {}).sort()).toEqual(["cancelled", "model_failed"]);
    expect(seen?.after.listeners).toBe(0);
    expect(seen?.after.resources).toBeLessThanOrEqual((seen?.before.resources ?? 0) + 2);
    expect(seen?.after.handles).toBeLessThanOrEqual((seen?.before.handles ?? 0) + 2);
    expect(child.lingeredMs).toBeLessThan(LINGERS_MS);
    await expect.poll(() => server.openStreams, PATIENT).toBe(0);
  });
});

type Open = { resources: number; handles: number; listeners: number };
