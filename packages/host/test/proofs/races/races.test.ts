import type { Approval } from "trackside";
import { expect, test } from "vitest";
import { rows } from "../../../src/store/index.ts";
import { script } from "./support/agents.ts";
import { isProof, onEveryStore, type Place, until, type Worker } from "./support/place.ts";
import type { Deciding, Got } from "./support/protocol.ts";

const TRIALS = isProof ? 200 : 10;
const DECIDERS = isProof ? 50 : 10;
/** Each of them is a race of its own. */
const AT_ONCE = isProof ? 50 : 10;
const RUNS = isProof ? 40 : 10;

await onEveryStore("races", (fresh) => {
  test(`L4 ${TRIALS} times ${DECIDERS} deciders in two processes: one winner, one execution, the rest told who won`, async () => {
    const place = await fresh();
    const [one, two] = await pair(place);
    const heard: Heard[] = [];
    let after: readonly Approval[] = [];
    let trials = 0;
    // It is a race if either process and either choice wins now and then: there are more of them until that was so.
    while (trials < TRIALS || !isOpen(after, [one, two])) {
      await startGated([one, two], AT_ONCE, trials);
      heard.push(...(await race(await place.pending(AT_ONCE), [one, two], "decide")));
      trials += AT_ONCE;
      await place.ended(trials);
      after = await place.approvals();
    }
    expect(problems(after, heard)).toEqual([]);
    expect(heard).toHaveLength(trials * DECIDERS);
    const ran = place.ran();
    for (const { state, arguments: args } of after)
      expect(ran.get(Number(args?.["n"])) ?? 0).toBe(state === "approved" ? 1 : 0);
  });

  test("the judge of these races notices a decision that is no compare-and-set", async () => {
    const place = await fresh();
    const [one, two] = await pair(place);
    await startGated([one, two], 20);
    const approvals = await place.pending(20);
    const heard = await race(approvals, [one, two], "decide-badly");
    expect(problems(await place.approvals(), heard).length).toBeGreaterThan(0);
  });

  test("L4 approve against the deadline: it is one or the other, and a late approval is told so", async () => {
    const place = await fresh();
    const [one, two] = await pair(place, { timeoutSeconds: 4 });
    await startGated([one, two], RUNS);
    const approvals = await until("all to be asked for", async () => {
      const all = await place.approvals(); // a deadline may have passed before the last is asked for
      return all.length === RUNS ? all : undefined;
    });
    const heard = await Promise.all(
      [one, two].map(async (worker) => {
        // Around the deadline of each, from a little before to a little after.
        const decisions = approvals.flatMap(({ id, deadline }, i) =>
          [-30, -8, -4, -2, -1, 0, 1, 2, 4].map((off) => ({
            id,
            at: (deadline ?? 0) + off + (i % 5) * 4,
            decision: { choice: "approve", by: `${worker.pid} ${off}` },
          })),
        );
        const got = await worker.ask({ do: "decide", decisions });
        return decisions.map((asked, i) => ({ asked, got: got[i] ?? {} }));
      }),
    );
    await place.ended(RUNS);
    const after = await place.approvals();
    expect(problems(after, heard.flat())).toEqual([]);
    for (const { state, arguments: args, decision, deadline } of after) {
      expect(place.ran().get(Number(args?.["n"])) ?? 0).toBe(state === "approved" ? 1 : 0);
      if (state === "approved") expect(decision?.at).toBeLessThan(deadline ?? 0);
      else expect(state).toBe("timed_out");
    }
  });

  test("L4 approve against a cancel from the other process: it is one or the other, and every call has its result", async () => {
    const place = await fresh();
    const [one, two] = await pair(place);
    const runs = await startGated([one, two], RUNS);
    const approvals = await place.pending(RUNS);
    const decisions = approvals.map(({ id }) => ({ id, decision: { choice: "approve", by: "ann" } }));
    const half = decisions.length / 2;
    const [gotOne, gotTwo] = await Promise.all([
      one.ask({ do: "decide", decisions: decisions.slice(0, half) }),
      two.ask({ do: "decide", decisions: decisions.slice(half) }),
      one.ask({ do: "cancel", runs: approvals.slice(half).map(({ run_id }) => run_id), reason: "enough" }),
      two.ask({ do: "cancel", runs: approvals.slice(0, half).map(({ run_id }) => run_id), reason: "enough" }),
    ]);
    await place.ended(RUNS);
    const heard = decisions.map((asked, i) => ({ asked, got: [...gotOne, ...gotTwo][i] ?? {} }));
    const after = await place.approvals();
    expect(problems(after, heard)).toEqual([]);
    for (const { state, arguments: args } of after) {
      expect(["approved", "cancelled"]).toContain(state);
      const times = place.ran().get(Number(args?.["n"])) ?? 0;
      expect(times).toBeLessThanOrEqual(state === "approved" ? 1 : 0);
    }
    for (const id of runs) expect(await place.loose(id)).toEqual([]);
  });

  test("X10 the same request sent 20 times at once from two processes starts one run, steers once, decides once", async () => {
    const place = await fresh();
    const [one, two] = await pair(place);
    const input = script(1, [{ calls: [{ tool: "charge", args: { n: 1 } }] }, "done"]);
    const run = { agent: "gated", input, requestId: "start-1" } as const;
    const runs = Array.from({ length: 20 }, () => run);
    const started = (await both([one, two], { do: "start", runs })).map(
      ({ runId, message }) => runId ?? message,
    );
    expect(new Set(started).size).toBe(1);
    expect(await place.runs()).toHaveLength(1);
    const [runId = ""] = started;

    const [approval] = await place.pending(1);
    const messages = Array.from({ length: 20 }, () => ({ runId, text: "and hurry", requestId: "steer-1" }));
    const steering = both([one, two], { do: "steer", messages });
    await until("the message to wait", () =>
      place.store.read(function* (db) {
        const [sent] = yield* rows(db.selectFrom("inbox").select("id").where("run_id", "=", runId));
        return sent;
      }),
    );
    const decision = { choice: "approve", by: "ann", requestId: "decide-1" };
    const decisions = Array.from({ length: 20 }, () => ({ id: approval?.id ?? "", decision }));
    const decided = await both([one, two], { do: "decide", decisions });
    expect(decided).toEqual(decided.map(() => ({ state: "approved", by: "ann" })));
    await place.ended(1);
    const receipts = await steering;
    expect(new Set(receipts.map(({ id, message }) => id ?? message)).size).toBe(1);
    const notes = await place.notes(runId);
    expect(notes.filter(({ type }) => type === "message_injected")).toHaveLength(1);
    expect(place.ran()).toEqual(new Map([[1, 1]]));
    // The same id for something else is a mistake, not the same request.
    const [other] = await one.ask({ do: "start", runs: [{ ...run, input: script(2, ["hello"]) }] });
    expect(other).toMatchObject({ code: "config_invalid", message: expect.stringContaining("start-1") });
  });

  test("X6 messages sent while a run ends from another process join it, open the next turn, or are refused; none is lost", async () => {
    const place = await fresh();
    const [one, two] = await pair(place);
    const runs = Array.from({ length: isProof ? 30 : 8 }, (_, n) => ({
      agent: "free" as const,
      input: script(n, [{ text: "done", delayMs: 300 }]),
    }));
    const since = Date.now();
    const ids = await one.start(runs);
    // From well before its end to after it, in small steps: some meet the very moment.
    const messages = ids.flatMap((runId) =>
      Array.from({ length: 12 }, (_, k) => ({ runId, text: "and hurry", at: since + 280 + k * 12 })),
    );
    const got = await two.ask({ do: "steer", messages });
    const ended = await until("the end of all", async () => {
      const all = await place.runs();
      return all.every(({ ended_at }) => ended_at !== null) ? all : undefined;
    });
    expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(["completed"]));
    const fates = new Set(got.map(({ state, code }) => state ?? code));
    for (const fate of fates) expect(["admitted", "next_turn", "config_invalid"]).toContain(fate);
    const taken = got.filter(({ state }) => state !== undefined).length;
    const injected = await Promise.all(ended.map(async ({ id }) => await place.notes(id)));
    const joined = injected.flat().filter(({ type }) => type === "message_injected").length;
    expect(joined + ended.length - ids.length).toBe(taken); // each message is in a run once, or opened one
  });

  test("X7 runs that are put in line while the one before them ends are all run, one after the other", async () => {
    const place = await fresh();
    const [one, two] = await pair(place);
    const run = (n: number) => ({
      agent: "free" as const,
      input: script(n, [{ text: "done", delayMs: 250 }]),
    });
    const since = Date.now();
    const ids = await one.start(Array.from({ length: 30 }, (_, n) => run(n)));
    // Around its end, each conversation at other moments.
    const sends = ids.flatMap((conversationOf, i) =>
      Array.from({ length: 4 }, (_, k) => ({ ...run(0), conversationOf, at: since + 250 + k * 40 + i * 2 })),
    );
    await Promise.all([one.start(sends.slice(0, 60)), two.start(sends.slice(60))]);
    const ended = await place.ended(ids.length + sends.length);
    expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(["completed"]));
    // Each began where the one before it had ended: a message and an answer further on.
    for (const first of ended.filter(({ id }) => ids.includes(id))) {
      const line = ended.filter(({ branch_id }) => branch_id === first.branch_id);
      const from = line.map(({ body }) => Number(JSON.parse(body).from)).sort((a, b) => a - b);
      expect(from).toEqual([0, 2, 4, 6, 8]);
    }
  });
});

async function pair(place: Place, given = {}): Promise<[Worker, Worker]> {
  return Promise.all([place.process(given), place.process(given)]);
}

async function both(workers: readonly Worker[], command: Parameters<Worker["ask"]>[0]): Promise<Got[]> {
  return (await Promise.all(workers.map((worker) => worker.ask(command)))).flat();
}

async function startGated([one, two]: [Worker, Worker], count: number, from = 0): Promise<string[]> {
  const runs = Array.from({ length: count }, (_, i) => ({
    agent: "gated" as const,
    input: script(from + i, [{ calls: [{ tool: "charge", args: { n: from + i } }] }, "done"]),
  }));
  const half = Math.ceil(count / 2);
  const ids = await Promise.all([one.start(runs.slice(0, half)), two.start(runs.slice(half))]);
  return ids.flat();
}

interface Heard {
  readonly asked: Deciding;
  readonly got: Got;
}

/** Every decider decides every one of these approvals, all at once, half of them each way. */
async function race(
  approvals: readonly Approval[],
  workers: readonly Worker[],
  how: "decide" | "decide-badly",
): Promise<Heard[]> {
  const each = DECIDERS / workers.length;
  const start = Date.now() + 100;
  const all = await Promise.all(
    workers.map(async (worker, w) => {
      const decisions: Deciding[] = [];
      for (let k = 0; k < each; k += 1)
        for (const [i, { id }] of approvals.entries()) {
          const choice = (k + i + w) % 2 === 0 ? "approve" : "reject";
          // They begin at the same moment, but for a small start: each process and either choice has it in turn.
          const late = ((i >> 1) % 2 === w ? 0 : 6) + (choice === "reject" && i % 2 === 0 ? 3 : 0);
          decisions.push({ id, at: start + late, decision: { choice, by: `${worker.pid} ${k}` } });
        }
      if (w % 2 === 1) decisions.reverse();
      const got = await worker.ask({ do: how, decisions });
      return decisions.map((asked, i) => ({ asked, got: got[i] ?? {} }));
    }),
  );
  return all.flat();
}

/** Whether each of these processes and either choice has won at least once. */
function isOpen(decided: readonly Approval[], workers: readonly Worker[]): boolean {
  const winners = decided.map(({ decision }) => decision?.by ?? "");
  const states = new Set(decided.map(({ state }) => state));
  return states.size === 2 && workers.every(({ pid }) => winners.some((by) => by.startsWith(`${pid} `)));
}

/** What is wrong with what deciders were told: each must have won, agreed, or been told who won. */
function problems(after: readonly Approval[], heard: readonly Heard[]): string[] {
  const byId = new Map(after.map((approval) => [approval.id, approval]));
  return heard.flatMap(({ asked, got }) => {
    const record = byId.get(asked.id);
    const winner = record?.decision?.by;
    const same = record?.state === (asked.decision.choice === "approve" ? "approved" : "rejected");
    const told =
      record?.state === "timed_out"
        ? got.message?.includes("its deadline has passed")
        : got.message?.includes(`by ${winner}`);
    const fine = same
      ? got.state === record?.state && got.by === winner
      : got.code === "approval_conflict" && told;
    return fine ? [] : [`${asked.id} by ${asked.decision.by}: ${JSON.stringify(got)}, won by ${winner}`];
  });
}
