import { expect, test } from "vitest";
import { script } from "./support/agents.ts";
import { isProof, onAnyStore, until } from "./support/place.ts";

const TIMES = isProof ? 15 : 3;

await onAnyStore("cancel", (fresh) => {
  for (const from of ["the same process", "another process"])
    test(`X5 from ${from}, with a model, a tool that never settles or an approval in flight: at once, and nothing after it`, async () => {
      const place = await fresh();
      const [owner, other] = await Promise.all([place.process(), place.process({ claims: false })]);
      const runs = Array.from({ length: TIMES }, (_, n) => [
        { agent: "free" as const, input: script(n, [{ hang: true }, "never"]) },
        { agent: "free" as const, input: script(n + 100, [charge(n + 100, -1), "never"]) },
        { agent: "gated" as const, input: script(n + 200, [charge(n + 200, 0), "never"]) },
      ]).flat();
      const ids = await owner.start(runs);
      await place.pending(TIMES);
      await until("models and tools", () => {
        const models = place.effects.filter(({ what }) => what === "model").length;
        return models === runs.length && place.ran().size === TIMES ? true : undefined;
      });

      // Its tools never settle: that the runs end says that it waits for none of them.
      await (from === "the same process" ? owner : other).ask({ do: "cancel", runs: ids, reason: "enough" });
      const ended = await place.ended(ids.length);
      for (const { id, status } of ended) {
        expect(status).toBe("cancelled");
        expect(await place.loose(id)).toEqual([]);
      }
      expect((await place.approvals()).map(({ state }) => state)).toEqual(Array(TIMES).fill("cancelled"));
      const results = await owner.ask({ do: "result", runs: ids });
      expect(results.map(({ status }) => status)).toEqual(ids.map(() => "cancelled"));
      // One model call each, the one that was cancelled or came before; the charges that waited never ran.
      expect(place.effects.filter(({ what }) => what === "model")).toHaveLength(runs.length);
      expect(place.ran().size).toBe(TIMES);
      // A decision that comes too late changes nothing.
      const [approval] = await place.approvals();
      const decision = { choice: "approve", by: "ann" };
      const [late] = await other.ask({ do: "decide", decisions: [{ id: approval?.id ?? "", decision }] });
      expect(late).toMatchObject({
        code: "approval_conflict",
        message: expect.stringContaining("cancelled by cancel"),
      });
    });

  test("X5 a run that nobody works on is cancelled by whoever comes next, without a model call", async () => {
    const place = await fresh();
    const first = await place.process();
    const [id = ""] = await first.start([{ agent: "free", input: script(1, [charge(1, -1), "never"]) }]);
    await until("the charge", () => place.ran().get(1));
    await first.kill();
    const clerk = await place.process({ claims: false });
    await clerk.ask({ do: "cancel", runs: [id], reason: "enough" });
    await place.process();
    const [run] = await place.ended(1);
    expect(run?.status).toBe("cancelled");
    expect(await place.loose(id)).toEqual([]);
    expect(place.effects.filter(({ what }) => what === "model")).toHaveLength(1);
    expect(place.ran()).toEqual(new Map([[1, 1]]));
  });
});

function charge(n: number, ms: number) {
  return { calls: [{ tool: "charge", args: { n, ms } }] };
}
