import { describe, expect, test } from "vitest";
import { call, type Step, script, spawning } from "./support/agents.ts";
import { measured } from "./support/measured.ts";
import { placeSuite } from "./support/suite.ts";

// A worker may be killed at any moment: another goes on from the last completed effect (X2, X3, X9).

const HALF = { text: "one two three four", hangAfter: 4 };

interface Scene {
  readonly title: string;
  readonly agent: "free" | "guarded";
  readonly steps: (n: string) => readonly (string | Step)[];
  /** What is marked when the worker is to die, and in whose script. */
  readonly dies: { readonly in: (n: string) => string; readonly what: "model" | "tool"; readonly of: string };
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
  },
];

await placeSuite("a worker is killed", {}, (here) => {
  describe.each(SCENES)("$title", ({ title, agent, steps, dies }) => {
    test("X3 X9 another goes on, nothing that was done is done again, and the events are the same", async () => {
      const { place } = here;
      await place.workers(2);
      const calm = `calm-${title.replaceAll(/\W/g, "")}`;
      const n = `dies-${title.replaceAll(/\W/g, "")}`;
      const undisturbed = await place.run(agent, script(calm, steps(calm)));

      const runId = await place.start(agent, script(n, steps(n)));
      const at = await place.marked(dies.in(n), dies.what, dies.of);
      const killed = await place.kill(at);
      const next = await place.marked(dies.in(n), dies.what, dies.of, 2);
      measured(`${title}: another worker goes on after`, next.at - killed);
      const text = await place.text(runId);

      expect(text).toBe(undisturbed.text);
      expect(next.pid).not.toBe(at.pid);
      expect(next.key).toBe(at.key); // the same idempotency key
      expect(await place.trace(runId, n)).toEqual(await place.trace(undisturbed.runId, calm));
      // Everything happened once, but for what died: that happened twice.
      const counts = new Map<string, number>();
      for (const { n: of, what, of: which } of place.marks)
        if (of.startsWith(n))
          counts.set(`${of} ${what} ${which}`, (counts.get(`${of} ${what} ${which}`) ?? 0) + 1);
      const twice = [...counts].filter(([, times]) => times > 1);
      expect(twice).toEqual([[`${dies.in(n)} ${dies.what} ${dies.of}`, 2]]);
    });
  });
});
