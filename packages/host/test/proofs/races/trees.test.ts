import { expect, test } from "vitest";
import { script, spawning } from "./support/agents.ts";
import { frozen, isProof, onAnyStore, type Place, until } from "./support/place.ts";

const LEASE = { leaseMs: 4000 };
const RUNS = isProof ? 10 : 4;

const charge = (n: number) => ({ calls: [{ tool: "charge", args: { n } }] });

/** A run whose two sub-agents each charge something. */
function pairOf(n: number, agent: "free" | "gated") {
  const child = (m: number) => script(m, [charge(m), "done"]);
  return { agent, input: script(n, [spawning(child(n), child(100 + n)), "all done"]) };
}

await onAnyStore("trees", (fresh) => {
  test("L7 L4 what sub-agents ask is decided by one of two processes, wherever their tree runs, and happens once or never", async () => {
    const place = await fresh();
    const [one, two] = await Promise.all([place.process(), place.process()]);
    const runs = Array.from({ length: RUNS }, (_, n) => pairOf(n, "gated"));
    const roots = await one.start(runs); // all of them in one process: the other decides for strangers
    const asked = await place.pending(2 * RUNS);
    expect(asked.every(({ run_id }) => !roots.includes(run_id))).toBe(true);
    const at = Date.now() + 100;
    const heard = await Promise.all(
      [one, two].map((worker, w) =>
        worker.ask({
          do: "decide",
          decisions: asked.map(({ id }, i) => {
            const choice = (i + w) % 2 === 0 ? "approve" : "reject";
            return {
              id,
              at: at + (i % 4 < 2 ? 0 : 3) * (w === 0 ? 1 : -1),
              decision: { choice, by: `${worker.pid}` },
            };
          }),
        }),
      ),
    );
    await place.ended(3 * RUNS);
    const after = new Map((await place.approvals()).map((approval) => [approval.id, approval]));
    for (const [i, { id, arguments: args }] of asked.entries()) {
      const record = after.get(id);
      const got = heard.map((one) => one[i]);
      expect(got.filter((one) => one?.state === record?.state)).toHaveLength(1);
      expect(got.filter((one) => one?.code === "approval_conflict")).toHaveLength(1);
      expect(place.ran().get(Number(args?.["n"])) ?? 0).toBe(record?.state === "approved" ? 1 : 0);
    }
    for (const { id, status } of await place.runs()) {
      expect(status).toBe("completed");
      expect(await place.loose(id)).toEqual([]);
    }
  });

  test("X4 a process frozen in the tool of a sub-agent loses the whole tree: nothing of it lands when it thaws", async () => {
    const place = await fresh();
    const old = await place.process({ ...LEASE, claims: false, freezesInTool: 1 });
    const child = script(1, [charge(1), charge(2), "done"]);
    const [root = ""] = await old.start([{ agent: "free", input: script(0, [spawning(child), "all done"]) }]);
    await frozen(old);
    const heir = await place.process(LEASE);

    const [asked] = await place.pending(1);
    expect(asked).toMatchObject({
      kind: "unknown_outcome",
      run_id: expect.stringMatching(`^${root}\\..*job0$`),
    });
    const runIt = async () => {
      const decision = { choice: "run", by: "ann" };
      return (await heir.ask({ do: "decide", decisions: [{ id: asked?.id ?? "", decision }] }))[0];
    };
    expect(await runIt()).toMatchObject({
      code: "decision_invalid",
      message: expect.stringContaining("known to be gone"),
    });
    const before = await notesOf(place);
    old.signal("SIGCONT");
    await until("the fence to be seen", () =>
      old.notices.some((told) => told.includes("others have taken its runs")) ? true : undefined,
    );
    expect(await notesOf(place)).toEqual(before); // its tool has ended; that did not land
    expect(await runIt()).toMatchObject({ state: "approved" });
    const ended = await place.ended(2);
    expect(ended.map(({ status }) => status)).toEqual(["completed", "completed"]);
    // Once by the one that froze, once because a human said so; what came after it only once, by the heir.
    expect(place.ran()).toEqual(new Map([[1, 2], [2, 1]])); // biome-ignore format: pairs
    for (const { id } of ended) expect(await place.loose(id)).toEqual([]);
    expect(place.effects.find(({ what, n }) => what === "tool" && n === 2)?.pid).toBe(heir.pid);
  });

  test("X5 X11 a tree is cancelled from another process while its process is killed: whoever takes it up ends all of it", async () => {
    const place = await fresh();
    const old = await place.process({ ...LEASE, claims: false });
    const forever = { calls: [{ tool: "look", args: { n: 1, ms: -1 } }] };
    const child = script(1, [forever, "never"]);
    const [root = ""] = await old.start([
      { agent: "free", input: script(0, [spawning(child, child), "never"]) },
    ]);
    await until("both to be at work", () => (place.ran("look").get(1) === 2 ? true : undefined));
    const heir = await place.process(LEASE);
    await Promise.all([old.kill(), heir.ask({ do: "cancel", runs: [root], reason: "enough" })]);
    const ended = await place.ended(3);
    expect(ended.map(({ status }) => status)).toEqual(["cancelled", "cancelled", "cancelled"]);
    for (const { id } of ended) expect(await place.loose(id)).toEqual([]);
  });
});

async function notesOf(place: Place): Promise<unknown[]> {
  const notes: unknown[] = [];
  for (const { id } of await place.runs()) notes.push(await place.notes(id));
  return notes;
}
