import type { TurnState } from "../schema/turn-state.ts";
import type { Note } from "./note.ts";
import type { AskInput, ModelInput, ToolInput, World } from "./world.ts";

/**
 * The world as the planner sees it: the executor's request, which it goes on from with messages of its own, under keys of
 * its own. What it would log is kept aside.
 */
export class PlannerWorld implements World {
  readonly #world: World;
  readonly #main: TurnState;
  readonly #path: readonly string[];
  readonly #messages: string[] = [];

  constructor(world: World, main: TurnState, path: readonly string[]) {
    this.#world = world;
    this.#main = main;
    this.#path = path;
  }

  model(key: string, input: ModelInput) {
    const { log: up_to, tail, tail_at } = this.#main;
    return this.#world.model(this.#key(key), {
      ...input,
      up_to,
      tail,
      tail_at,
      planner: [...this.#messages],
    });
  }

  tool(key: string, input: ToolInput) {
    return this.#world.tool(this.#key(key), { ...input, planner: true });
  }

  ask(key: string, input: AskInput) {
    return this.#world.ask(this.#key(key), input);
  }

  sleep(key: string, ms: number) {
    return this.#world.sleep(this.#key(key), ms);
  }

  cancel(prefix: string, reason: string): void {
    this.#world.cancel(this.#key(prefix), reason);
  }

  note(note: Note): void {
    if (note.type !== "logged") {
      this.#world.note({ ...note, path: this.#path });
      return;
    }
    this.#messages.push(...note.message_ids);
    this.#world.note({ type: "aside", message_ids: note.message_ids });
  }

  boundary(): undefined {
    return undefined; // the planner is not steered, and a run does not start again in the middle of it
  }

  end(): undefined {
    return undefined;
  }

  /** A plan is made in one window: the planner's own requests are not compacted, they fail (P4). */
  compact(): undefined {
    return undefined;
  }

  dispatch = notThePlanners;
  hooks = notThePlanners;
  child = notThePlanners;
  equip = notThePlanners;
  node = notThePlanners;

  #key(key: string): string {
    return `plan/${key}`;
  }
}

function notThePlanners(): never {
  throw new Error("the planner has no points, hooks or children of its own");
}
