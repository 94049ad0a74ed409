import type { TurnState } from "../schema/turn-state.ts";
import type { Note } from "../turn/note.ts";
import { NO_USAGE } from "../turn/state.ts";
import type {
  AskInput,
  AskOut,
  BoundaryOut,
  ChildInput,
  ChildOut,
  CompactInput,
  CompactOut,
  DispatchInput,
  DispatchOut,
  HooksInput,
  HooksOut,
  ModelInput,
  ModelOut,
  NodeInput,
  NodeOut,
  ToolInput,
  ToolOut,
  World,
} from "../turn/world.ts";
import { type ManualClock, manualClock } from "./manual-clock.ts";

/** What a fake world answers with. Each may look at what it was asked. */
export interface Answers {
  readonly model: (input: ModelInput, key: string) => ModelOut | Promise<ModelOut>;
  readonly tool?: (input: ToolInput, key: string) => ToolOut | Promise<ToolOut>;
  readonly dispatch?: (input: DispatchInput, key: string) => DispatchOut | Promise<DispatchOut>;
  readonly hooks?: (input: HooksInput, key: string) => HooksOut | Promise<HooksOut>;
  readonly ask?: (input: AskInput, key: string) => AskOut | Promise<AskOut>;
  readonly compact?: (input: CompactInput, key: string) => CompactOut | undefined;
  readonly child?: (input: ChildInput, key: string) => ChildOut | Promise<ChildOut>;
  readonly node?: (input: NodeInput, key: string) => NodeOut | Promise<NodeOut>;
  readonly boundary?: (state: TurnState) => BoundaryOut;
}

export interface FakeWorld extends World {
  readonly clock: ManualClock;
  /** Every key asked for, in order. */
  readonly asked: readonly string[];
  /** Every note, in order. */
  readonly notes: readonly Note[];
  /** What was cancelled by prefix. */
  readonly cancels: readonly string[];
}

/** A world without a model, a tool or a log: for testing the loop itself, with a clock that you move. */
export function fakeWorld(answers: Answers): FakeWorld {
  const clock = manualClock();
  const asked: string[] = [];
  const notes: Note[] = [];
  const cancels: string[] = [];
  const ask = async <T>(key: string, answer: () => T | Promise<T>): Promise<T> => {
    asked.push(key);
    return answer();
  };
  return {
    clock,
    asked,
    notes,
    cancels,
    dispatch: (key, input) => ask(key, () => answers.dispatch?.(input, key) ?? {}),
    model: (key, input) => ask(key, () => answers.model(input, key)),
    tool: (key, input) =>
      ask(key, () => answers.tool?.(input, key) ?? { message_id: `${input.call.id}.result` }),
    hooks: (key, input) => ask(key, () => answers.hooks?.(input, key) ?? {}),
    ask: (key, input) => ask(key, () => answers.ask?.(input, key) ?? approved(input)),
    compact: (key, input) => {
      const out = answers.compact?.(input, key);
      return out === undefined ? undefined : ask(key, () => out);
    },
    equip: (key) => ask(key, () => ({})),
    child: (key, input) =>
      ask(
        key,
        () => answers.child?.(input, key) ?? { run_id: input.run_id, status: "success", usage: NO_USAGE },
      ),
    node: (key, input) => ask(key, () => answers.node?.(input, key) ?? {}),
    sleep: (key, ms) => ask(key, () => new Promise((resolve) => clock.after(ms, () => resolve({})))),
    boundary: (state) => (answers.boundary ? Promise.resolve(answers.boundary(state)) : undefined),
    end: () => undefined,
    cancel: (prefix) => {
      cancels.push(prefix);
    },
    note: (note) => {
      notes.push(note);
    },
  };
}

function approved({ approval_id, digest }: AskInput): AskOut {
  return {
    approval_id,
    digest,
    status: "approved",
    choice: "approve",
    reason: "",
    decided_by: "test",
    wait_ms: 0,
    deadline: null,
  };
}
