import type { Call } from "../schema/tool.ts";
import type { TurnState } from "../schema/turn-state.ts";
import { addUsage, cancel, fail } from "./state.ts";
import type { ModelOut, World } from "./world.ts";

/** What the model said in this step, recorded but not yet logged. */
export interface Said {
  readonly message_id: string;
  readonly attempt: number;
  readonly calls: readonly Call[];
  readonly has_text: boolean;
  readonly has_reasoning: boolean;
  readonly invalid?: string;
}

const NO_CALLS: readonly Call[] = [];

/** One step's model call: attempts until something was said, or null when the run has its outcome. */
export async function think(world: World, state: TurnState): Promise<Said | null> {
  state.step += 1;
  world.note({ type: "step", step: state.step, state: "started" });

  let next = { choice: 0, tries: 0, in_ms: 0 };
  for (let attempt = 1; ; attempt++) {
    const out = await world.model(`${state.step}/model/${attempt}`, {
      step: state.step,
      attempt,
      choice: next.choice,
      tries: next.tries,
      up_to: state.log,
      projection: state.projection,
      tail: state.tail,
      redo: state.redo,
    });
    count(world, state, out);
    if (out.cancelled !== undefined) {
      keepShown(world, state, out);
      cancel(state, out.cancelled);
      return null;
    }
    if (out.failure === undefined) {
      state.redo = null;
      return said(out, attempt);
    }
    if (out.again === undefined) {
      keepShown(world, state, out);
      fail(state, out.failure);
      return null;
    }

    next = out.again;
    world.note({ type: "error", failure: out.failure, attempt, retry_in_ms: next.in_ms });
    const waited = await world.sleep(`${state.step}/wait/${attempt}`, next.in_ms);
    if (waited.cancelled !== undefined) {
      cancel(state, waited.cancelled);
      return null;
    }
  }
}

function count(world: World, state: TurnState, out: ModelOut): void {
  if (out.usage === undefined) return;
  state.usage = addUsage(state.usage, out.usage);
  world.note({
    type: "usage",
    step: state.step,
    model: out.model ?? "",
    call: out.usage,
    total: state.usage,
  });
}

function said(out: ModelOut, attempt: number): Said {
  return {
    message_id: out.message_id ?? "",
    attempt,
    calls: out.calls ?? NO_CALLS,
    has_text: out.has_text === true,
    has_reasoning: out.has_reasoning === true,
    ...(out.invalid === undefined ? {} : { invalid: out.invalid }),
  };
}

/** Text that was already shown stays, marked as partial (X5). */
function keepShown(world: World, state: TurnState, out: ModelOut): void {
  if (!out.partial || out.message_id === undefined) return;
  if (out.has_reasoning) world.note({ type: "reasoning", message_id: out.message_id });
  if (out.has_text) world.note({ type: "text", message_id: out.message_id });
  world.note({ type: "logged", message_ids: [out.message_id] });
  state.log += 1;
}
