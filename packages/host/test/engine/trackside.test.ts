import { Agent, cont, defineTool, postHook, preHook } from "trackside";
import { scriptedModel } from "trackside/testing";
import { afterEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { sqlite, Trackside } from "../../src/index.ts";
import { databaseFile } from "./support/database.ts";
import { queued, until } from "./support/until.ts";

const open: Trackside[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

function host(agent: Agent<never, never>, path = databaseFile(), options = {}): Trackside {
  const made = new Trackside({ store: sqlite(path), agents: [agent as never], ...options });
  open.push(made);
  return made;
}

const pay = (ran: unknown[]) =>
  defineTool({
    name: "pay",
    input: z.object({ amount: z.number() }),
    execute: (args) => {
      ran.push(args);
      return `paid ${args.amount}`;
    },
  });

function clerk(ran: unknown[], script: Parameters<typeof scriptedModel>[0], config = {}) {
  return new Agent({
    name: "clerk",
    model: scriptedModel(script, { loop: true }),
    tools: [pay(ran)],
    ...config,
  }) as unknown as Agent<never, never>;
}

const paying = [{ calls: [{ tool: "pay", args: { amount: 3 } }] }, "done"];

describe("Trackside", () => {
  test("X2 an approval outlives its process: decided with nobody there, it runs once when the next one starts", async () => {
    const ran: unknown[] = [];
    const path = databaseFile();
    const first = host(clerk(ran, paying, { hitlTools: ["pay"] }), path);
    const { runId, conversationId } = await first.start("clerk", "pay 3");
    const waiting = await until(async () => (await first.approvals.list())[0]);
    expect((await first.runs.get(runId)).status).toBe("waiting");
    await first.close();

    const desk = host(clerk([], ["never"]), path, { claims: false });
    await desk.approvals.decide(waiting.id, { choice: "approve", by: "ann" });
    await desk.close();
    expect(ran).toEqual([]);

    const second = host(clerk(ran, ["done"], { hitlTools: ["pay"] }), path);
    const result = await second.runs.result(runId);
    expect(result.output).toBe("done");
    expect(ran).toEqual([{ amount: 3 }]);
    const messages = await second.conversations.messages(conversationId);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
    const events = await second.runs.events(runId);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
    expect(events.at(-1)).toMatchObject({ type: "status", status: "completed" });
    expect((await second.audit.verify()).ok).toBe(true);
    expect((await second.audit.list()).map(({ action, by }) => [action, by])).toEqual([
      ["approval.decided", "ann"],
    ]);
  });

  test("L8 a remembered decision still makes a record, decided by its rule, until it is revoked", async () => {
    const ran: unknown[] = [];
    const trackside = host(clerk(ran, paying, { hitlTools: ["pay"] }));
    const started = await trackside.start("clerk", "pay 3");
    const waiting = await until(async () => (await trackside.approvals.list())[0]);
    await trackside.approvals.decide(waiting.id, { choice: "approve", by: "ann", remember: {} });
    await started.result();
    await trackside.run("clerk", "pay 3 again");
    const [rule] = await trackside.approvals.rules();
    const decided = await trackside.approvals.list({ state: "approved" });
    expect(decided.map(({ decision }) => decision?.by)).toEqual(["ann", `rule:${rule?.id}`]);
    await trackside.approvals.revokeRule(rule?.id ?? "", { by: "bob" });
    const third = await trackside.start("clerk", "pay 3 once more");
    const asked = await until(async () => (await trackside.approvals.list())[0]);
    await trackside.approvals.decide(asked.id, { choice: "reject", reason: "no", by: "bob" });
    await third.result();
    expect(ran).toHaveLength(2);
  });

  test("X7 branches share what came before and never see each other's later writes", async () => {
    const trackside = host(clerk([], ["one", "two", "three"]));
    const first = await trackside.run("clerk", "a");
    const id = first.conversation.id;
    await (await trackside.conversations.send(id, "b")).result();
    const messages = await trackside.conversations.messages(id);
    const branch = await trackside.conversations.branch(id, { at: messages[1]?.id ?? "" });
    await trackside.run("clerk", "c", { conversation: branch.id });
    const texts = async (one: string) =>
      (await trackside.conversations.messages(one)).flatMap((message) =>
        message.role === "tool" ? [] : message.parts.map((part) => ("text" in part ? part.text : "")),
      );
    expect(await texts(id)).toEqual(["a", "one", "b", "two"]);
    expect(await texts(branch.id)).toEqual(["a", "one", "c", "three"]);

    const lines = await trackside.conversations.export(branch.id);
    const copy = await trackside.conversations.import(lines);
    expect(await texts(copy.id)).toEqual(["a", "one", "c", "three"]);
    await trackside.run("clerk", "d", { conversation: copy.id });
    expect(await texts(copy.id)).toHaveLength(6);
    await trackside.conversations.delete(id);
    await expect(trackside.conversations.messages(branch.id)).rejects.toThrow("There is no conversation");
    expect(await texts(copy.id)).toHaveLength(6);
  });

  test("X6 a message sent to a run joins at the next step, and its receipt says so", async () => {
    const gate = Promise.withResolvers<string>();
    const slow = defineTool({ name: "slow", effect: "none", execute: () => gate.promise });
    const agent = new Agent({
      name: "clerk",
      model: scriptedModel([{ calls: [{ tool: "slow" }] }, "done"], { loop: true }),
      tools: [slow],
    }) as unknown as Agent<never, never>;
    const trackside = host(agent);
    const { runId, conversationId, result } = await trackside.start("clerk", "go");
    const receipt = trackside.steer(runId, "faster");
    await queued(trackside, runId);
    gate.resolve("ok");
    expect(await receipt).toMatchObject({ state: "admitted", runId, at: expect.any(Number) });
    await result();
    const messages = await trackside.conversations.messages(conversationId);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user", "assistant"]);
  });

  test("X6 a message that comes too late becomes the next turn", async () => {
    const answered = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const agent = new Agent({
      name: "clerk",
      model: scriptedModel(["one", "two"]),
      hooks: {
        post: [
          postHook({ name: "wait" }, async (turn) => {
            answered.resolve();
            await gate.promise;
            return cont(turn);
          }),
        ],
      },
    }) as unknown as Agent<never, never>;
    const trackside = host(agent);
    const { runId, conversationId, result } = await trackside.start("clerk", "go");
    await answered.promise;
    const receipt = trackside.steer(runId, "and another");
    await queued(trackside, runId);
    gate.resolve();
    await result();
    const settled = await receipt;
    expect(settled.state).toBe("next_turn");
    await trackside.runs.result(settled.runId);
    const messages = await trackside.conversations.messages(conversationId);
    expect(messages).toHaveLength(4);
  });

  test("X10 the same request id starts one run; another request under it is refused", async () => {
    const trackside = host(clerk([], ["hi"]));
    const all = await Promise.all(
      Array.from({ length: 20 }, () => trackside.start("clerk", "go", { requestId: "r1" })),
    );
    expect(new Set(all.map(({ runId }) => runId)).size).toBe(1);
    expect((await all[3]?.result())?.output).toBe("hi");
    await expect(trackside.start("clerk", "something else", { requestId: "r1" })).rejects.toThrow(
      "another request",
    );
    expect(await trackside.runs.list()).toHaveLength(1);
  });

  test("X7 a second send to a busy conversation is refused, waits in line, or steers", async () => {
    const gate = Promise.withResolvers<string>();
    const hold = defineTool({ name: "hold", effect: "none", execute: () => gate.promise });
    const agent = new Agent({
      name: "clerk",
      model: scriptedModel([{ calls: [{ tool: "hold" }] }, "one", "two"]),
      tools: [hold],
    }) as unknown as Agent<never, never>;
    const trackside = host(agent);
    const first = await trackside.start("clerk", "go");
    const conversation = first.conversationId;
    await expect(trackside.start("clerk", "b", { conversation })).rejects.toThrow(first.runId);
    const next = await trackside.start("clerk", "b", { conversation, whenBusy: "queue" });
    const steered = trackside.start("clerk", "c", { conversation, whenBusy: "steer" });
    await queued(trackside, first.runId);
    gate.resolve("ok");
    expect((await steered).receipt?.state).toBe("admitted");
    expect((await first.result()).output).toBe("one");
    expect((await next.result()).output).toBe("two");
  });

  test("X13 a retry goes on from a step: nothing earlier runs again", async () => {
    const ran: unknown[] = [];
    const tells = preHook({ name: "tells" }, (turn) => cont(turn.append("by the way")));
    const trackside = host(clerk(ran, [...paying, "done again"], { hooks: { pre: [tells] } }));
    const { runId } = await (async () => {
      const started = await trackside.start("clerk", "pay 3");
      await started.result();
      return started;
    })();
    const again = await trackside.runs.retry(runId, { fromStep: 2 });
    expect(again.retried_from).toBe(runId);
    const result = await trackside.runs.result(again.id);
    expect(ran).toHaveLength(1);
    expect(result.stopReason).toBe("answered");
    const events = await trackside.runs.events(again.id);
    expect(
      events.filter(({ type }) => type === "step").map((event) => "step" in event && event.step)[0],
    ).toBe(2);
    await expect(trackside.runs.retry(runId, { fromStep: 9 })).rejects.toThrow("fromStep: 1 to 2 expected");
  });

  test("H4 at the end transient parts are a digest and a count", async () => {
    const tells = preHook({ name: "tells" }, (turn) => cont(turn.append("a secret by the way")));
    const path = databaseFile();
    const trackside = host(clerk([], ["hi"], { hooks: { pre: [tells] } }), path);
    const { runId } = await (async () => {
      const started = await trackside.start("clerk", "go");
      await started.result();
      return started;
    })();
    const exported = JSON.stringify(await trackside.runs.export(runId));
    expect(exported).toContain("message_injected");
    const rows = await trackside.engine.store.read(function* (db) {
      const found = yield db.selectFrom("commits").selectAll().compile();
      return JSON.stringify(found.rows);
    });
    expect(rows).toContain("forgotten");
    expect(rows).not.toContain("a secret by the way");
  });

  test("E4 a reader that comes back with its cursor ends with the same transcript", async () => {
    const trackside = host(
      clerk([], [{ text: "Let me pay.", calls: [{ tool: "pay", args: { amount: 1 } }] }, "All done here."]),
    );
    const { runId, result } = await trackside.start("clerk", "go");
    await result();
    const all = await trackside.runs.events(runId);
    for (const { seq } of all) {
      const rest = [];
      for await (const { event } of trackside.runs.follow(runId, { after: String(seq) })) rest.push(event);
      expect(rest).toEqual(all.slice(seq));
    }
  });

  test("E4 a reader cut at any event, live text included, comes back and ends with the same transcript", async () => {
    const script = [
      {
        reasoning: "I think.",
        text: "Let me pay 🚂.",
        calls: [{ tool: "pay", args: { amount: 1 } }],
        chunkDelayMs: 1,
      },
      { text: "All done here.", chunkDelayMs: 1 },
    ];
    const agent = new Agent({
      name: "clerk",
      model: scriptedModel(script, { loop: true, chunk: 3 }),
      tools: [pay([])],
    }) as unknown as Agent<never, never>;
    const trackside = host(agent);
    for (let cut = 1; cut < 40; cut += 2) {
      const { runId } = await trackside.start("clerk", "go");
      const shown = new Map<string, string>();
      let cursor = "0";
      let cuts = 0;
      for (let over = false; !over; ) {
        let seen = 0;
        over = true;
        for await (const one of trackside.runs.follow(runId, { after: cursor })) {
          cursor = one.cursor;
          show(shown, one.event);
          seen += 1;
          if (seen < cut || cuts > 5) continue;
          cuts += 1;
          over = false; // the connection breaks here
          break;
        }
      }
      const whole = new Map<string, string>();
      for (const event of await trackside.runs.events(runId)) show(whole, event);
      expect([...shown]).toEqual([...whole]);
    }
  });
});

/** What somebody sees who appends deltas and lets a durable event replace them. */
function show(texts: Map<string, string>, event: { type: string; message_id?: string; text?: string }): void {
  const { type, message_id = "", text = "" } = event;
  if (type === "text_delta") texts.set(`text ${message_id}`, (texts.get(`text ${message_id}`) ?? "") + text);
  else if (type === "reasoning_delta")
    texts.set(`reasoning ${message_id}`, (texts.get(`reasoning ${message_id}`) ?? "") + text);
  else if (type === "text" || type === "reasoning") texts.set(`${type} ${message_id}`, text);
}
