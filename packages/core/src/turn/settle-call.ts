import type { Failure } from "../schema/failure.ts";
import type { Call } from "../schema/tool.ts";
import type { TurnState } from "../schema/turn-state.ts";
import type { Verdict } from "../schema/verdict.ts";
import type { Said } from "./think.ts";
import { abortedBy, Retries, settleVerdicts } from "./verdicts.ts";
import type { AskInput, AskOut, ToolOut, World } from "./world.ts";

/** A call with its paired result. */
export interface Settled {
  readonly message_id: string;
  readonly fatal?: Failure;
  readonly cancelled?: string;
}

/** One call: PRE rails, approval where one is needed, the tool, POST rails, and again where a rail asks for it. */
export async function settleCall(world: World, state: TurnState, said: Said, call: Call): Promise<Settled> {
  const prefix = `${state.step}/${call.index}`;
  const retries = new Retries();
  let decided: { decided?: AskOut; resuming?: true } = {};
  let attempt = 1; // an approval in between is no attempt of its own
  for (let round = 1; ; round++) {
    const input = { step: state.step, message_id: said.message_id, call, attempt, rails: state.rails };
    const out = await world.tool(`${prefix}/tool/${round}`, { ...input, ...decided });
    const verdict = settleVerdicts(world, state, out, call.id);

    if (out.gate) {
      decided = { decided: await decide(world, `${prefix}/ask/${round}`, out.gate), resuming: true };
      continue;
    }
    if (decided.decided) decided = { decided: decided.decided };
    const delay = verdict?.action === "retry" && !out.exhausted ? retries.next(verdict) : undefined;
    if (delay === undefined) return settle(world, state, out, verdict);
    const waited = await world.sleep(`${prefix}/wait/${round}`, delay);
    if (waited.cancelled !== undefined)
      return settle(world, state, { ...out, cancelled: waited.cancelled }, undefined);
    attempt += 1;
  }
}

/** The question and its answer are events; the row behind them decides (L4). */
async function decide(world: World, key: string, gate: AskInput): Promise<AskOut> {
  const { approval_id, kind, call_id, tool } = gate;
  const about = { type: "approval" as const, approval_id, kind, call_id, tool, reasons: [...gate.reasons] };
  world.note({ ...about, state: "pending", deadline: gate.deadline });
  const out = await world.ask(key, gate);
  const state = out.cancelled === undefined ? out.status : "cancelled";
  world.note({ ...about, state, deadline: out.deadline, decided_by: out.decided_by });
  return out;
}

function settle(world: World, state: TurnState, out: ToolOut, verdict: Verdict | undefined): Settled {
  const message_id = out.message_id ?? "";
  world.note({ type: "tool_result", message_id });
  const fatal = verdict && endsRun(verdict) ? abortedBy(verdict) : out.fatal;
  if (fatal) world.cancel(`${state.step}/`, fatal.message);
  return {
    message_id,
    ...(fatal ? { fatal } : {}),
    ...(out.cancelled === undefined ? {} : { cancelled: out.cancelled }),
  };
}

/** An abort does; so does a retry that may not be made any more, except after an error, where the error stands (R8). */
function endsRun({ action, point }: Verdict): boolean {
  return action === "abort" || (action === "retry" && point !== "TOOL_ERROR");
}
