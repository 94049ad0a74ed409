import { Agent, alert, defineRail, defineTool, skip } from "trackside";
import { scriptedModel } from "trackside/testing";
import { expect, test } from "vitest";
import type { ApprovalRecord, InboxChange, Trackside } from "../../src/index.ts";
import { hostOn } from "../agents/support/host.ts";
import { onBothStores } from "../agents/support/stores.ts";

const act = defineTool({ name: "act", execute: () => "done" });
const calls = [{ tool: "act" }];

const said = new Agent({ name: "said", model: scriptedModel(["Yes."], { loop: true }) });
const broken = new Agent({
  name: "broken",
  model: scriptedModel([{ error: { status: 400, message: "no" } }], { loop: true }),
});
const guarded = new Agent({
  name: "guarded",
  model: scriptedModel([({ prompt }) => (prompt.at(-1)?.role === "tool" ? "Well." : { calls })], {
    loop: true,
  }),
  tools: [act],
  rails: [
    defineRail({ name: "never", on: ["PRE_TOOL_CALL"] }, () => skip("not today")),
    defineRail({ name: "noted", on: ["POST_LLM_CALL"] }, () => alert("look at this")),
    defineRail({ name: "later", on: ["PRE_LLM_CALL"], mode: "shadow" }, () => skip("only looking")),
  ],
});
const gated = new Agent({
  name: "gated",
  model: scriptedModel([({ prompt }) => (prompt.at(-1)?.role === "tool" ? "Well." : { calls })], {
    loop: true,
  }),
  tools: [act],
  hitlTools: ["act"],
});
const AGENTS = [said, broken, guarded, gated];

const day = (trackside: Trackside) => {
  const to = trackside.engine.clock.now() + 1;
  return { from: to - 86_400_000, to, buckets: 4 };
};

await onBothStores("runs in numbers", (database) => {
  test("R12 runs, tokens, errors and verdicts add up, however often they are asked for, and in one's own tenant only", async () => {
    const trackside = hostOn((await database())(), { agents: AGENTS });
    await trackside.run("said", "Well?");
    await trackside.run("guarded", "Well?");
    await trackside.run("broken", "Well?").catch(() => {});
    await trackside.run("said", "Well?", { scope: { tenant: "other" } });

    for (let look = 0; look < 2; look++) {
      const { buckets, now } = await trackside.stats.report(day(trackside));
      expect(buckets.map(({ runs }) => runs)).toEqual([0, 0, 0, 3]);
      const last = buckets.at(-1);
      expect(last).toMatchObject({ completed: 2, errors: 1, cancelled: 0, cost: null });
      expect(last?.verdicts).toEqual({ skip: 1, alert: 2, shadow: 2 });
      expect(last?.input_tokens).toBeGreaterThan(0);
      expect(last?.latency_p95_ms).toBeGreaterThanOrEqual(last?.latency_p50_ms ?? 0);
      expect(now).toEqual({ running: 0, waiting: 0, parked: 0, pending_approvals: 0 });
    }
    const { buckets } = await trackside.stats.report({ ...day(trackside), tenant: "other", buckets: 1 });
    expect(buckets[0]).toMatchObject({ runs: 1, errors: 0, verdicts: {} });
    const agents = await trackside.stats.agents();
    expect(agents.get("broken")).toMatchObject({ error_rate: 1, last_run: { status: "error" } });
    expect(agents.get("said")).toMatchObject({ error_rate: 0, pending_approvals: 0 });
  });

  test("runs are found by a piece of their id or of what was said, and by when they began", async () => {
    const trackside = hostOn((await database())(), { agents: AGENTS });
    const found = async (search: string) => (await trackside.runs.list({ search })).map(({ id }) => id);
    const { runId: one, result } = await trackside.start("said", 'Refund "order 17", 100%_sure');
    await result();
    const { runId: two, result: ended } = await trackside.start("said", "Something else");
    await ended();
    expect(await found(one.slice(-10))).toEqual([one]);
    expect(await found('"order 17"')).toEqual([one]);
    expect(await found("100%_sure")).toEqual([one]);
    expect(await found("100__sure")).toEqual([]);
    expect(await found("e")).toEqual([two, one]);
    const { created_at } = await trackside.runs.get(two);
    expect(await trackside.runs.list({ from: created_at + 1 })).toEqual([]);
    expect((await trackside.runs.list({ to: created_at + 1 })).map(({ id }) => id)).toContain(two);
  });

  test("L4 L5 the inbox tells what is asked and decided as it happens, to who comes back too", async () => {
    const open = await database();
    const trackside = hostOn(open(), { agents: AGENTS });
    const other = hostOn(open(), { agents: AGENTS, claims: false });
    const stop = new AbortController();
    const changes = trackside.approvals.changes({ signal: stop.signal });
    const until = async (state: string) => {
      for await (const change of changes) {
        const found = change.approvals.find((approval) => approval.state === state);
        if (found !== undefined) return { found, cursor: change.cursor };
      }
      throw new Error("the changes ended");
    };
    const heard = until("pending");
    const { result } = await trackside.start("gated", "Go");
    const { found, cursor } = await heard;
    // Decided in another process.
    await other.approvals.decide(found.id, { choice: "approve", by: "ann" });
    await result();
    stop.abort();

    const again = new AbortController();
    const missed: ApprovalRecord[] = [];
    for await (const change of trackside.approvals.changes({ after: cursor, signal: again.signal })) {
      missed.push(...(change satisfies InboxChange).approvals);
      if (missed.some(({ state }) => state === "approved")) again.abort();
    }
    expect(missed.at(-1)).toMatchObject({ id: found.id, state: "approved", decision: { by: "ann" } });
  });

  test("lists of approvals and of the audit go on after a page, either way round", async () => {
    const trackside = hostOn((await database())(), { agents: AGENTS });
    for (let i = 0; i < 5; i++) await trackside.start("gated", `Go ${i}`);
    await expect.poll(async () => (await trackside.approvals.list()).length, { timeout: 50_000 }).toBe(5);
    const all = await trackside.approvals.list();
    const paged: ApprovalRecord[] = [];
    for (let after: string | undefined; ; after = paged.at(-1)?.id) {
      const page = await trackside.approvals.list({ limit: 2, ...(after === undefined ? {} : { after }) });
      paged.push(...page);
      if (page.length < 2) break;
    }
    expect(paged).toEqual(all);
    const newest = await trackside.approvals.list({ newestFirst: true });
    expect(newest).toEqual(all.toReversed());

    const audit = await trackside.audit.list();
    const [first] = await trackside.audit.list({ newestFirst: true, limit: 1 });
    expect(first).toEqual(audit.at(-1));
    expect(await trackside.audit.list({ newestFirst: true, after: first?.n ?? 0, limit: 1 })).toEqual(
      audit.slice(-2, -1),
    );
    for (const { run_id } of all) await trackside.runs.cancel(run_id);
  });
});
