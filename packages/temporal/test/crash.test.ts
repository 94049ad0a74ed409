import { beforeAll, expect, test } from "vitest";
import { call, type Step, script, spawning } from "./support/agents.ts";
import { placeSuite } from "./support/suite.ts";

// A worker may be killed at any moment: another goes on from the last completed effect (X2, X3, X9).

const HALF = { text: "one two three four", hangAfter: 4 };

interface Scene {
  readonly title: string;
  readonly agent: "free" | "guarded";
  readonly steps: (n: string) => readonly (string | Step)[];
  /** What is marked when the worker is to die, and in whose script. */
  readonly dies: { readonly in: (n: string) => string; readonly what: "model" | "tool"; readonly of: string };
  /** How many sub-agents have ended by then. */
  readonly ended?: number;
  /** Of a tool that happens once: what somebody says who is asked what came of it. */
  readonly once?: { readonly choice: "ran" | "run"; readonly response?: string };
}

const SCENES: readonly Scene[] = [
  {
    title: "mid model call, after the first words",
    agent: "free",
    steps: (n) => [call("look", n), { ...call("put", n), first: HALF }, "done"],
    dies: { in: (n) => n, what: "model", of: "1" },
  },
  {
    title: "mid tool without an effect, with rails on every point",
    agent: "guarded",
    steps: (n) => [call("put", n), call("look", n, "first"), "done"],
    dies: { in: (n) => n, what: "tool", of: "look" },
  },
  {
    title: "mid tool that is idempotent",
    agent: "free",
    steps: (n) => [call("put", n, "first"), "done"],
    dies: { in: (n) => n, what: "tool", of: "put" },
  },
  {
    title: "mid model call of a sub-agent",
    agent: "free",
    steps: (n) => [
      spawning(
        script(`${n}-one`, [call("look", `${n}-one`), { text: "first", first: HALF }]),
        script(`${n}-two`, ["second"]),
      ),
      "done",
    ],
    dies: { in: (n) => `${n}-one`, what: "model", of: "1" },
    ended: 1,
  },
  {
    title: "mid tool that happens once, which ran",
    agent: "guarded",
    steps: (n) => [call("charge", n, "first"), "done"],
    dies: { in: (n) => n, what: "tool", of: "charge" },
    once: { choice: "ran", response: "charged" },
  },
  {
    title: "mid tool that happens once, which did not run",
    agent: "free",
    steps: (n) => [call("charge", n, "first"), "done"],
    dies: { in: (n) => n, what: "tool", of: "charge" },
    once: { choice: "run" },
  },
];

/** A workflow in the middle of everything: a tool, agents, and somebody who is asked. */
const flowOf = (n: string) => ({
  n,
  scripts: ["one", "two"].map((part) =>
    script(`${n}-${part}`, [call("look", `${n}-${part}`), `${part} is done`]),
  ),
});

await placeSuite("a worker is killed", {}, (here) => {
  const calm = new Map<string, { readonly runId: string; readonly text: string }>();
  const disturbed = new Map<string, string>();
  const flows = { calm: "", dies: "" };
  let died: number;

  beforeAll(async () => {
    const { place } = here;
    await place.workers(1);
    await Promise.all(
      SCENES.map(async ({ title, agent, steps }) => {
        const n = `calm-${short(title)}`;
        calm.set(title, await place.run(agent, script(n, steps(n))));
      }),
    );
    flows.calm = (await place.trackside.workflows.start("flow", flowOf("calm-flow"))).runId;
    const asked = await place.pending(flows.calm);
    await place.trackside.approvals.decide(asked.id, { choice: "approve", by: "ann" });
    await place.ended(flows.calm);
    flows.dies = (await place.trackside.workflows.start("flow", flowOf("dies-flow"))).runId;
    await place.marked("dies-flow", "tool", "put");
    await place.pending(flows.dies);
    // Each of them is in the middle of one thing when the worker dies.
    const marks = await Promise.all(
      SCENES.map(async ({ title, agent, steps, dies, ended = 0 }) => {
        const n = `dies-${short(title)}`;
        const runId = await place.start(agent, script(n, steps(n)));
        disturbed.set(title, runId);
        await place.until(`${ended} sub-agents to end`, async () => {
          const children = await place.trackside.runs.list({ parent: runId });
          return children.filter(({ status }) => status === "completed").length >= ended || undefined;
        });
        return place.marked(dies.in(n), dies.what, dies.of);
      }),
    );
    const [{ pid } = { pid: 0 }] = marks;
    await place.kill({ pid });
    died = pid;
    await place.inside();
  });

  test.each(SCENES)(
    "$title: X3 X9 another goes on, nothing that was done is done again, and the events are the same",
    async ({ title, dies, once }) => {
      const { place } = here;
      const n = `dies-${short(title)}`;
      const runId = disturbed.get(title) ?? "";
      const undisturbed = calm.get(title);
      const whole = `${dies.in(n)} ${dies.what} ${dies.of}`;
      if (once !== undefined) {
        const asked = await place.pending(runId);
        expect(asked).toMatchObject({ kind: "unknown_outcome", tool: dies.of, state: "pending" });
        expect(place.marksOf(dies.in(n), "tool", dies.of)).toHaveLength(1);
        await place.trackside.approvals.decide(asked.id, { ...once, by: "ann" });
      }
      expect(await place.text(runId)).toBe(undisturbed?.text);
      // Everything happened once, but for what died: that happened twice, if it may.
      const twice = [...Map.groupBy(place.marks, (mark) => `${mark.n} ${mark.what} ${mark.of}`)].filter(
        ([what, all]) => what.startsWith(n) && all.length > 1,
      );
      if (once?.choice === "ran") return expect(twice).toEqual([]);
      expect(twice.map(([what, all]) => [what, all.length])).toEqual([[whole, 2]]);
      const [first, next] = place.marksOf(dies.in(n), dies.what, dies.of);
      expect(first?.pid).toBe(died);
      expect(next?.pid).not.toBe(died);
      expect(next?.key).toBe(first?.key); // the same idempotency key
      if (once !== undefined) return;
      expect(await place.trace(runId, n)).toEqual(
        await place.trace(undisturbed?.runId ?? "", `calm-${short(title)}`),
      );
    },
  );

  test("W4 W5 X3 X9 a workflow goes on, each node told once, and comes to the same", async () => {
    const { place } = here;
    const asked = await place.pending(flows.dies);
    expect(asked).toMatchObject({ kind: "workflow_node", tool: "ask", state: "pending" });
    await place.trackside.approvals.decide(asked.id, { choice: "approve", by: "ann" });
    const [calmly, ended] = [await place.ended(flows.calm), await place.ended(flows.dies)];
    expect(JSON.stringify(ended.output)).toBe(
      JSON.stringify(calmly.output).replaceAll("calm-flow", "dies-flow"),
    );
    const nodes = async (runId: string, n: string) =>
      (await place.trace(runId, n))
        .filter((one) => "type" in one && one.type === "node")
        .map(told)
        .toSorted();
    const all = await nodes(flows.dies, "dies-flow");
    expect(all).toEqual(await nodes(flows.calm, "calm-flow"));
    expect(new Set(all).size).toBe(all.length);
    const [first, next, ...more] = place.marksOf("dies-flow", "tool", "put");
    expect([first?.pid, next?.key, more]).toEqual([died, first?.key, []]);
    expect(place.marksOf("dies-flow", "tool", "charge")).toHaveLength(1);
    expect(place.marksOf("dies-flow", "tool", "look")).toHaveLength(1);
  });
});

const short = (title: string) => title.replaceAll(/\W/g, "");
const told = (one: object) => JSON.stringify(one);
