import type { ScriptedReply } from "trackside/testing";
import type { DecideInput } from "../../src/index.ts";
import { call, type Script, type Step, script } from "./world.ts";

/** How a run of the fixture ends when a later release goes on with it. */
export interface Outcome extends Pick<Script, "name">, Partial<Pick<Script, "steps">> {
  readonly tenant?: string;
  /** Decides its approvals while no worker is up, at the end of the recording. */
  readonly decided?: DecideInput;
  /** Decides its approvals in the test. */
  readonly decides?: DecideInput;
  /** Completed with the text of the last step, if it says nothing else. */
  readonly ends?: { readonly status: "completed" | "error" | "cancelled"; readonly output?: unknown };
  /** Effects that happen exactly once, by tool and name, over the recording and the test together. */
  readonly once?: readonly string[];
}

/** A run of an agent by a script, and where its recording stops. */
export interface Scenario extends Script, Outcome {
  readonly steps: Script["steps"];
  readonly agent: string;
  /** The scenario whose conversation it continues. */
  readonly after?: string;
  /** `ended` while recording; `held` in the middle of work; `asks` while approvals are pending. */
  readonly stops: "ended" | "held" | "asks";
  /** What is held, if not the scenario's own name. */
  readonly heldAt?: string;
  /** How many approvals are pending: one if it asks, else none. */
  readonly pending?: number;
}

const ANN = { by: "ann" };
const APPROVE: DecideInput = { choice: "approve", ...ANN };
const REJECT: DecideInput = { choice: "reject", reason: "too dear", ...ANN };
const CITY: DecideInput = { choice: "accept", response: { city: "Oslo" }, ...ANN };
const PLACE: DecideInput = { choice: "submit", response: { city: "Oslo" }, ...ANN };
const edited = (name: string): DecideInput => ({ choice: "approve", editedArguments: { name }, ...ANN });
const PAGE = "a page full of words ".repeat(40);

type Steps = readonly (string | Step)[];
type More = Omit<Scenario, "name" | "agent" | "stops" | "steps">;

const ended = (name: string, agent: string, steps: Steps, more: More = {}): Scenario => ({
  ...{ name, agent, steps, stops: "ended" },
  ...more,
});
const held = (name: string, agent: string, steps: Steps, more: More = {}): Scenario => ({
  ...{ name, agent, steps, stops: "held" },
  ...more,
});
const asks = (name: string, agent: string, steps: Steps, more: More = {}): Scenario => ({
  ...{ name, agent, steps, stops: "asks" },
  ...more,
});

const spawn = (...jobs: readonly Script[]): ScriptedReply => ({
  calls: [{ tool: "spawn_parallel", args: { jobs: jobs.map((job) => ({ task: script(job) })) } }],
});
const spawnSelf = (job: Script): ScriptedReply => ({
  calls: [{ tool: "spawn_self", args: { task: script(job) } }],
});
const handOff = { calls: [{ tool: "handoff_to_specialist", args: { reason: "it knows" } }] };

/** Of the first process: it is killed while tools with an effect that happens once are running. */
export const LOST: readonly Scenario[] = [
  held("lost-before", "lost", [call("pay", "lost-before", "before"), "done"], { once: ["pay lost-before"] }),
  held("lost-after", "lost", [call("pay", "lost-after", "after"), "done"], { once: ["pay lost-after"] }),
  held("lost-decided", "lost", [call("pay", "lost-decided", "before"), "done"], {
    decided: { choice: "run", ...ANN },
    once: ["pay lost-decided"],
  }),
  held("lost-given-up", "lost", [call("pay", "lost-given-up", "before"), "gave up"], {
    decided: { choice: "give_up", ...ANN },
  }),
  asks("parked", "parkable", [call("stamp", "parked"), "done"], { decides: APPROVE, once: ["stamp parked"] }),
];

const chat = (n: number, more: More = {}) =>
  ended(`archive-${n}`, "archivist", [call("look", `archive-${n}`), `${PAGE} ${n}`], {
    ...(n > 1 ? { after: "archive-1" } : {}),
    ...more,
  });

/** Of the second process, which takes up the runs of the first. */
export const OPENED: readonly Scenario[] = [
  ended("answered", "clerk", [call("look", "answered"), call("pay", "answered"), "answered"], {
    once: ["pay answered"],
  }),
  ended("answered-again", "clerk", [call("save", "answered-again"), "answered again"], { after: "answered" }),
  ended("failed", "clerk", [call("look", "failed"), { finish: "content-filter", text: "" }], {
    ends: { status: "error" },
  }),
  ended("forbidden", "railed", [call("pay", "forbidden"), "never"], { ends: { status: "error" } }),
  ended("large", "clerk", [call("fetch", "large"), "read"]),
  ended("handed", "triage", [call("look", "handed"), handOff, call("pay", "handed"), "by the specialist"], {
    once: ["pay handed"],
  }),
  ended("planned", "planner", [call("pay", "planned"), "as planned"], {
    plan: [call("look", "planned"), "1. Pay\n2. Say so"],
    once: ["pay planned"],
  }),
  ended("hooked", "hooked", [call("save", "hooked"), "hooked"]),
  ...[1, 2, 3, 4].map((n) => chat(n)),

  held("in-model", "clerk", [{ hold: "start", text: "from the model" }]),
  held(
    "mid-model",
    "clerk",
    [call("pay", "mid-model"), { hold: "middle", text: "the whole of a longer answer" }],
    { once: ["pay mid-model"] },
  ),
  held("between-steps", "railed", [call("look", "between-steps"), call("pay", "between-steps"), "done"], {
    once: ["pay between-steps"],
  }),
  held("in-once-before", "clerk", [call("pay", "in-once-before", "before"), "done"], {
    once: ["pay in-once-before"],
  }),
  held("in-once-after", "clerk", [call("pay", "in-once-after", "after"), "done"], {
    once: ["pay in-once-after"],
  }),
  held("in-once-fail", "clerk", [call("bet", "in-once-fail", "after"), "told"], {
    once: ["bet in-once-fail"],
  }),
  held("in-idempotent", "clerk", [call("save", "in-idempotent", "after"), "done"]),
  held("in-none", "clerk", [call("look", "in-none", "before"), "done"]),
  held("retrying", "clerk", [call("pay", "retrying"), { overloaded: true, text: "after a retry" }], {
    once: ["pay retrying"],
  }),
  held("rail-retry", "railed", [call("look", "rail-retry"), "after the rail's retry"]),
  held(
    "mixed",
    "gated",
    [
      {
        calls: [
          { tool: "look", args: { name: "mixed" } },
          { tool: "pay", args: { name: "mixed", hold: "before" } },
          { tool: "charge", args: { name: "mixed" } },
        ],
      },
      "all three",
    ],
    { pending: 1, decides: APPROVE, once: ["pay mixed", "charge mixed"] },
  ),
  held(
    "tree",
    "spawner",
    [
      spawn(
        { name: "tree-1", steps: [call("save", "tree-1"), "first"] },
        { name: "tree-2", steps: [call("look", "tree-2"), call("save", "tree-2", "before"), "second"] },
      ),
      "both are done",
    ],
    { heldAt: "tree-2" },
  ),
  held(
    "half-handed",
    "triage",
    [handOff, call("save", "half-handed", "before"), call("pay", "half-handed"), "by the specialist"],
    {
      once: ["pay half-handed"],
    },
  ),
  held("half-planned", "planner", [call("pay", "half-planned"), "as planned"], {
    plan: [call("look", "half-planned"), { hold: "start", text: "1. Pay\n2. Say so" }],
    once: ["pay half-planned"],
  }),
  held("after-plan", "planner", [call("save", "after-plan", "before"), "as planned"], {
    plan: ["1. Save"],
  }),
  held("half-archived", "archivist", [call("save", "half-archived", "before"), "archived"], {
    after: "archive-1",
  }),
  held("half-hooked", "hooked", [call("save", "half-hooked", "before"), "half-hooked"]),
  held("steered", "clerk", [call("save", "steered", "before"), { echo: true }], {
    ends: { status: "completed", output: "heard: hurry, please" },
  }),
  held("busy", "clerk", [call("save", "busy", "before"), "no longer busy"]),
  held("unwanted", "clerk", [call("save", "unwanted", "before"), "never"], { ends: { status: "cancelled" } }),
  held("acme-held", "clerk", [call("pay", "acme-held", "after"), "done"], {
    tenant: "acme",
    once: ["pay acme-held"],
  }),

  asks("asks-tool", "gated", [call("charge", "asks-tool"), "charged"], {
    decides: APPROVE,
    once: ["charge asks-tool"],
  }),
  asks("asks-edit", "gated", [call("charge", "asks-edit"), "charged"], {
    decides: edited("asks-edit-changed"),
    once: ["charge asks-edit-changed"],
  }),
  asks("asks-reject", "gated", [call("charge", "asks-reject"), "not charged"], { decides: REJECT }),
  asks("asks-late", "timed", [call("charge", "asks-late"), "too late"]),
  asks("asks-rail", "railed", [call("pay", "doubtful-1"), "paid"], {
    decides: APPROVE,
    once: ["pay doubtful-1"],
  }),
  asks("asks-client", "clerk", [{ calls: [{ tool: "locate" }] }, "located"], { decides: PLACE }),
  asks("asks-question", "clerk", [call("question", "asks-question"), "Oslo"], { decides: CITY }),
  asks(
    "asks-below",
    "spawner",
    [spawnSelf({ name: "below", steps: [call("charge", "below"), "charged below"] }), "done"],
    { decides: APPROVE, once: ["charge below"] },
  ),
  held(
    "asks-definition",
    "served",
    [call("save", "asks-definition", "before"), call("mcp__shop__lookup", "asks-definition"), "looked up"],
    { pending: 1, decides: APPROVE, once: ["lookup asks-definition"] },
  ),
  asks("acme-asks", "gated", [call("charge", "acme-asks"), "charged"], {
    tenant: "acme",
    decides: APPROVE,
    once: ["charge acme-asks"],
  }),

  asks("decided-tool", "gated", [call("charge", "decided-tool"), "charged"], {
    decided: APPROVE,
    once: ["charge decided-tool"],
  }),
  asks("decided-edit", "gated", [call("charge", "decided-edit"), "charged"], {
    decided: edited("decided-edit-changed"),
    once: ["charge decided-edit-changed"],
  }),
  asks("decided-reject", "gated", [call("charge", "decided-reject"), "not charged"], { decided: REJECT }),
  asks("decided-rail", "railed", [call("pay", "doubtful-2"), "paid"], {
    decided: edited("doubtful-2-changed"),
    once: ["pay doubtful-2-changed"],
  }),
  asks("decided-client", "clerk", [{ calls: [{ tool: "locate" }] }, "located"], { decided: PLACE }),
  asks("decided-question", "clerk", [call("question", "decided-question"), "Oslo"], { decided: CITY }),
  asks(
    "decided-below",
    "spawner",
    [spawnSelf({ name: "decided-below", steps: [call("charge", "decided-below"), "charged below"] }), "done"],
    { decided: edited("decided-below-changed"), once: ["charge decided-below-changed"] },
  ),
];

const refunded = (name: string) => ({ paid: `pay ${name}`, noted: null, said: "refunded" });

/** Runs that a script of their own does not describe. */
export const OTHERS: readonly Outcome[] = [
  { name: "branched", steps: ["on the branch"] },
  { name: "retried", steps: ["answered"] },
  { name: "cancelled", ends: { status: "cancelled" } },
  { name: "remembered", steps: ["charged"], once: ["charge remembered"] },
  { name: "remembered-again", steps: ["charged"], once: ["charge remembered"] },
  { name: "stored-held", steps: ["by a stored agent"], once: ["pay stored-held"] },
  { name: "deleted-held", steps: ["by a stored agent"], once: ["pay deleted-held"] },
  {
    name: "refund-approve",
    decides: APPROVE,
    ends: { status: "completed", output: refunded("refund-approve") },
    once: ["pay refund-approve"],
  },
  {
    name: "refund-reject",
    decides: REJECT,
    ends: { status: "completed", output: { paid: null, noted: "save refund-reject", said: null } },
  },
  {
    name: "refund-decided",
    decided: APPROVE,
    ends: { status: "completed", output: refunded("refund-decided") },
    once: ["pay refund-decided"],
  },
  {
    name: "flow",
    decides: APPROVE,
    ends: {
      status: "completed",
      output: {
        each: ["first", "second"],
        pays: ["pay flow-a", "pay flow-b"],
        by: "ann",
        sent: { n: 2 },
        again: "flaky flow-again",
        inside: "pay flow-inside",
        look: "look flow",
      },
    },
    once: ["pay flow-a", "pay flow-b", "pay flow-inside"],
  },
  { name: "behind", steps: ["after busy"] },
  { name: "queued", steps: ["begun late"] },
];
