import type { Call } from "../schema/tool.ts";
import type { TurnState } from "../schema/turn-state.ts";
import { complete, publish } from "./answer.ts";
import { charge } from "./charge.ts";
import { makeRoom } from "./make-room.ts";
import { log } from "./open.ts";
import { cancel, fail } from "./state.ts";
import { abortedBy, Retries, settleVerdicts } from "./verdicts.ts";
import type { ModelInput, ModelOut, World } from "./world.ts";

/** What the model said in this step, recorded but not yet logged. */
export interface Said {
  readonly message_id: string;
  readonly attempt: number;
  readonly calls: readonly Call[];
  readonly has_text: boolean;
  readonly has_reasoning: boolean;
  readonly skipped: boolean;
  readonly invalid?: string;
  /** Of the planner. */
  readonly plan?: ModelOut["plan"];
}

const NO_CALLS: readonly Call[] = [];
const REASONING_DROPPED = {
  type: "context",
  action: "withheld",
  tokens_before: 0,
  tokens_after: 0,
  detail: "reasoning that a transformer changed is not sent back to the provider",
} as const;

/** One step's model call: attempts until something was said, or null when the run has its outcome. */
export async function think(world: World, state: TurnState): Promise<Said | null> {
  state.step += 1;
  state.passed = 0;
  world.note({ type: "step", step: state.step, state: "started" });

  const retries = new Retries();
  let next = { choice: 0, tries: 0, in_ms: 0 };
  let compacted: ModelInput["compacted"];
  for (let attempt = 1; ; attempt++) {
    const out = await world.model(`${state.step}/model/${attempt}`, request(state, attempt, next, compacted));
    count(world, state, out);
    const verdict = settleVerdicts(world, state, out, null);
    if (out.retract !== undefined) retract(world, out, attempt, out.retract);
    if (out.reasoning_dropped) world.note(REASONING_DROPPED);

    if (out.stopped) {
      stopOnBudget(world, state, out);
      return null;
    }
    const why = roomFor(out, compacted);
    if (why !== undefined) {
      compacted = why;
      if (out.failure) world.note({ type: "error", failure: out.failure, attempt, retry_in_ms: 0 });
      await makeRoom(world, state, `${state.step}/room/${why}`, why);
      if (state.outcome !== null) return null;
      continue;
    }

    if (out.cancelled !== undefined) {
      keepShown(world, state, out);
      cancel(state, out.cancelled);
      return null;
    }
    if (verdict?.action === "abort") {
      keepShown(world, state, out); // at MODEL_ERROR part of an answer may have been shown
      fail(state, abortedBy(verdict));
      return null;
    }

    let again = out.again;
    if (verdict?.action === "retry") {
      const delay = retries.next(verdict);
      if (delay !== undefined) again = { choice: 0, tries: 0, in_ms: delay };
      else if (out.failure === undefined) {
        fail(state, abortedBy(verdict));
        return null;
      }
    }
    if (again === undefined) {
      if (out.failure === undefined) return said(state, out, attempt);
      keepShown(world, state, out);
      fail(state, out.failure);
      return null;
    }

    next = again;
    if (out.failure) world.note({ type: "error", failure: out.failure, attempt, retry_in_ms: next.in_ms });
    if (out.failure === undefined && verdict === undefined) continue; // lost with its process: nothing to wait for
    const waited = await world.sleep(`${state.step}/wait/${attempt}`, next.in_ms);
    if (waited.cancelled !== undefined) {
      cancel(state, waited.cancelled);
      return null;
    }
  }
}

function request(
  state: TurnState,
  attempt: number,
  { choice, tries }: { choice: number; tries: number },
  compacted: ModelInput["compacted"],
): ModelInput {
  const { step, agent, log: up_to, tail, tail_at, plan, notes, redo, anchor, rails } = state;
  const input: ModelInput = {
    step,
    attempt,
    choice,
    tries,
    agent,
    up_to,
    tail,
    tail_at,
    plan,
    notes,
    redo,
    anchor,
    rails,
  };
  if (compacted !== undefined) input.compacted = compacted;
  return input;
}

/** Whether room has to be made: once in a step for the budget (B3), and once because the provider says so (B5). */
function roomFor(
  { over, overflow, cancelled }: ModelOut,
  made: ModelInput["compacted"],
): ModelInput["compacted"] {
  if (cancelled !== undefined) return undefined;
  if (over && made === undefined) return "budget";
  return overflow && made !== "overflow" ? "overflow" : undefined;
}

/** Too large, and no more room to be made: a fixed message is the answer, and the provider was not called (B3). */
function stopOnBudget(world: World, state: TurnState, out: ModelOut): void {
  const message = said(state, out, 1);
  publish(world, message);
  log(world, state, [message.message_id]);
  complete(world, state);
  state.outcome = { status: "completed", stop_reason: "budget", message_id: message.message_id };
}

function count(world: World, state: TurnState, out: ModelOut): void {
  if (out.usage === undefined) return;
  if (out.estimated !== undefined && out.usage.input_tokens > 0)
    state.anchor = { reported: out.usage.input_tokens, estimated: out.estimated };
  charge(world, state, out.model ?? "", out.usage, out.prefix);
}

function said(state: TurnState, out: ModelOut, attempt: number): Said {
  state.redo = null;
  if (state.notes.length > 0) state.notes = [];
  const { invalid, plan } = out;
  const message = {
    message_id: out.message_id ?? "",
    attempt,
    calls: out.calls ?? NO_CALLS,
    has_text: out.has_text === true,
    has_reasoning: out.has_reasoning === true,
    skipped: out.skipped === true,
  };
  if (invalid === undefined && plan === undefined) return message;
  return {
    ...message,
    ...(invalid === undefined ? {} : { invalid }),
    ...(plan === undefined ? {} : { plan }),
  };
}

function retract(world: World, out: ModelOut, attempt: number, reason: string): void {
  if (out.message_id !== undefined) {
    world.note({ type: "message_retracted", message_id: out.message_id, attempt, reason });
  }
}

/** Keeps text the user has already seen, marked partial (X5). */
function keepShown(world: World, state: TurnState, out: ModelOut): void {
  if (!out.partial || out.message_id === undefined) return;
  if (out.has_reasoning) world.note({ type: "reasoning", message_id: out.message_id });
  if (out.has_text) world.note({ type: "text", message_id: out.message_id });
  log(world, state, [out.message_id]);
}
