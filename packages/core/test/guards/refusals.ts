import {
  type Approve,
  abort,
  ask,
  type HookPoint,
  type RailContext,
  type RailReturn,
  retry,
  skip,
} from "trackside";

/** A way in which a call is refused. `stops` the run, or only this call. */
export interface Way {
  readonly what: string;
  readonly on: HookPoint;
  readonly answer: (ctx: RailContext) => RailReturn | Promise<RailReturn>;
  readonly approve?: Approve;
  readonly stops: boolean;
}

const never = () => new Promise<never>(() => {});
const ACTIONS: readonly { what: string; answer: () => RailReturn | Promise<RailReturn> }[] = [
  { what: "skip", answer: () => "skip" },
  { what: "skip with a replacement", answer: () => skip("no", { replacement: "instead" }) },
  { what: "abort", answer: () => abort("no") },
  { what: "retry to exhaustion", answer: () => retry({ maxRetries: 2 }) },
  { what: "retry to exhaustion, with a delay", answer: () => retry({ maxRetries: 2, delay: 30 }) },
  { what: "throw", answer: () => Promise.reject(new Error("broke")) },
  { what: "time out", answer: never },
  { what: "return rubbish", answer: () => "nope" as never },
];

/** Every action at every point that comes before a tool. */
export const BY_RAIL: readonly Way[] = (
  ["START", "PRE_LLM_CALL", "POST_LLM_CALL", "PRE_TOOL_CALL"] as const
).flatMap((on) =>
  ACTIONS.map(({ what, answer }) => ({
    what: `${what} at ${on}`,
    on,
    answer,
    stops: !what.startsWith("skip") || on !== "PRE_TOOL_CALL",
  })),
);

/** Every way in which nobody says yes. */
export const BY_HUMAN: readonly Way[] = [
  { what: "reject", approve: () => ({ choice: "reject" }) },
  { what: "reject, with an edit", approve: () => ({ choice: "reject", editedArguments: { n: 1 } }) },
  { what: "nobody answers in time", approve: never },
  { what: "the approver throws", approve: () => Promise.reject(new Error("gone")) },
  { what: "the approver says something else", approve: () => ({ choice: "sure" }) },
  { what: "the approver says nothing", approve: () => undefined as never },
  {
    what: "an edit that does not fit",
    approve: () => ({ choice: "approve", editedArguments: { n: "many" } }),
  },
].map(({ what, approve }) => ({
  what: `ask: ${what}`,
  on: "PRE_TOOL_CALL" as const,
  answer: () => ask("may it?"),
  approve: approve as Approve,
  stops: false,
}));

export const BATCHES: readonly (readonly string[])[] = [
  ["bad"],
  ["bad", "good"],
  ["good", "bad"],
  ["good", "bad", "good", "bad", "good"],
];
