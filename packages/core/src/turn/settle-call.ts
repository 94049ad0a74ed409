import type { PinnedAgent } from "../schema/agent.ts";
import type { Failure } from "../schema/failure.ts";
import type { Call } from "../schema/tool.ts";
import type { TurnState } from "../schema/turn-state.ts";
import type { Verdict } from "../schema/verdict.ts";
import { handOver } from "./hand-over.ts";
import { Slots } from "./slots.ts";
import { spawn } from "./spawn.ts";
import type { Said } from "./think.ts";
import { abortedBy, Retries, settleVerdicts } from "./verdicts.ts";
import type { AskInput, AskOut, Handover, ToolInput, ToolOut, World } from "./world.ts";

/** The step a call belongs to. */
export interface Batch {
  readonly agent: PinnedAgent;
  readonly world: World;
  readonly state: TurnState;
  readonly said: Said;
  /** How many sub-agents may be live at once; there from the first on. */
  slots?: Slots;
  /** Where the turn goes after this step. */
  handoff?: Handover;
}

/** A call with its paired result. */
export interface Settled {
  readonly message_id: string;
  /** Of a workflow's call: the error it came to. */
  readonly failure?: Failure;
  readonly fatal?: Failure;
  readonly cancelled?: string;
}

type Round = Pick<ToolInput, "decided" | "resuming" | "answered" | "children" | "handed">;
type End = Omit<Settled, "message_id">;

const FIRST_ROUND: Round = Object.freeze({});
const NO_END: End = Object.freeze({});

/** One call: PRE rails, approval where one is needed, the tool, POST rails, and again where a rail asks for it. */
export async function settleCall(batch: Batch, call: Call): Promise<Settled> {
  const { agent, world, state, said } = batch;
  const prefix = `${state.step}/${call.index}`;
  const retries = new Retries();
  let round = FIRST_ROUND;
  let end = NO_END;
  let attempt = 1; // an approval in between is no attempt of its own
  for (let n = 1; ; n++) {
    const { step, rails } = state;
    const input = { step, message_id: said.message_id, call, attempt, rails, agent: state.agent };
    const asked = round === FIRST_ROUND ? input : { ...input, ...round };
    const out = await world.tool(`${prefix}/tool/${n}`, asked);
    const verdict = settleVerdicts(world, state, out, call.id);

    if (out.gate) {
      const decided = await decide(world, `${prefix}/ask/${n}`, out.gate);
      const before = round.decided ? { decided: round.decided } : {};
      // A tool that asks something is running: what was decided on it before still stands.
      round =
        out.gate.kind === "elicitation" ? { ...before, answered: decided } : { decided, resuming: true };
      continue;
    }
    round = round.decided ? { decided: round.decided } : FIRST_ROUND;
    if (out.spawn) {
      const { jobs: _, limited: __, ...about } = out.spawn;
      batch.slots ??= new Slots(agent.definition.max_parallel_subagents);
      const results = await spawn(world, state, call, out.spawn, batch.slots);
      const aborted = results.find((child) => child.aborted)?.failure;
      if (aborted) end = { fatal: aborted };
      round = { ...round, children: { ...about, results } };
      continue;
    }
    if (out.handoff) {
      const { ran_with } = out.handoff;
      const key = `${prefix}/hand`;
      const asked = await handOver(agent, world, state, key, out.handoff, batch.handoff);
      const { handoff, refused, ...ended } = asked;
      if (refused === undefined) batch.handoff = handoff;
      end = ended;
      const how = { ...(refused ? { refused } : {}), ...(ran_with ? { ran_with } : {}) };
      round = { ...round, handed: { to: handoff.to, ...how } };
      continue;
    }
    const delay = verdict?.action === "retry" && !out.exhausted ? retries.next(verdict) : undefined;
    if (delay === undefined) return settle(batch, out, verdict, end);
    const waited = await world.sleep(`${prefix}/wait/${n}`, delay);
    if (waited.cancelled !== undefined)
      return settle(batch, { ...out, cancelled: waited.cancelled }, undefined, end);
    attempt += 1;
  }
}

/** The question and its answer are events; the row behind them decides (L4). */
export async function decide(world: World, key: string, gate: AskInput): Promise<AskOut> {
  const { approval_id, kind, call_id, tool } = gate;
  const about = { type: "approval" as const, approval_id, kind, call_id, tool, reasons: [...gate.reasons] };
  world.note({ ...about, state: "pending", deadline: gate.deadline });
  const out = await world.ask(key, gate);
  const state = out.cancelled === undefined ? out.status : "cancelled";
  world.note({ ...about, state, deadline: out.deadline, decided_by: out.decided_by });
  return out;
}

function settle({ world, state }: Batch, out: ToolOut, verdict: Verdict | undefined, end: End): Settled {
  const message_id = out.message_id ?? "";
  if (out.artifacts) for (const artifact of out.artifacts) world.note({ type: "artifact", ...artifact });
  world.note({ type: "tool_result", message_id });
  const fatal = verdict && endsRun(verdict) ? abortedBy(verdict) : (out.fatal ?? end.fatal);
  if (fatal) world.cancel(`${state.step}/`, fatal.message);
  const cancelled = out.cancelled ?? end.cancelled;
  const { failure } = out;
  if (fatal === undefined && cancelled === undefined && failure === undefined) return { message_id };
  return {
    message_id,
    ...(failure ? { failure } : {}),
    ...(fatal ? { fatal } : {}),
    ...(cancelled === undefined ? {} : { cancelled }),
  };
}

/** An abort does; so does a retry that may not be made any more, except after an error, where the error stands (R8). */
function endsRun({ action, point }: Verdict): boolean {
  return action === "abort" || (action === "retry" && point !== "TOOL_ERROR");
}
