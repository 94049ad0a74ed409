import type { Asked } from "../../turn/journal.ts";
import type {
  AskInput,
  AskOut,
  ChildInput,
  ChildOut,
  CompactInput,
  CompactOut,
  DispatchInput,
  DispatchOut,
  EquipInput,
  EquipOut,
  HooksInput,
  HooksOut,
  ModelInput,
  ModelOut,
  NodeInput,
  NodeOut,
  ToolInput,
  ToolOut,
} from "../../turn/world.ts";
import type { Effect } from "../effect.ts";
import type { Maybe } from "../maybe.ts";
import type { RunContext } from "../run-context.ts";
import { ask } from "./ask.ts";
import { runChild } from "./child.ts";
import { compact } from "./compact.ts";
import { dispatch } from "./dispatch.ts";
import { equip } from "./equip.ts";
import { callModel } from "./model.ts";
import { runNode } from "./node.ts";
import { pipeline } from "./pipeline.ts";
import { sleep } from "./sleep.ts";
import { callTool } from "./tool.ts";

/** One handler for each effect, written once. Engines call them, journal them, or register them as activities. */
export interface Handlers {
  dispatch(run: RunContext, input: DispatchInput, effect: Effect): Promise<DispatchOut>;
  model(run: RunContext, input: ModelInput, effect: Effect): Promise<ModelOut>;
  hooks(run: RunContext, input: HooksInput, effect: Effect): Promise<HooksOut>;
  ask(run: RunContext, input: AskInput, effect: Effect): Promise<AskOut>;
  tool(run: RunContext, input: ToolInput, effect: Effect): Maybe<ToolOut>;
  compact(run: RunContext, input: CompactInput, effect: Effect): Promise<CompactOut>;
  equip(run: RunContext, input: EquipInput, effect: Effect): Promise<EquipOut>;
  child(run: RunContext, input: ChildInput, effect: Effect): Promise<ChildOut>;
  node(run: RunContext, input: NodeInput, effect: Effect): Promise<NodeOut>;
  sleep(run: RunContext, ms: number, effect: Effect): Promise<{ cancelled?: string }>;
}

/** Performs an effect that a journal has: its input is the one its World method was given. */
export function perform(run: RunContext, { kind, input }: Asked, effect: Effect): Maybe<unknown> {
  switch (kind) {
    case "dispatch":
      return handlers.dispatch(run, input as DispatchInput, effect);
    case "model":
      return handlers.model(run, input as ModelInput, effect);
    case "tool":
      return handlers.tool(run, input as ToolInput, effect);
    case "hooks":
      return handlers.hooks(run, input as HooksInput, effect);
    case "ask":
      return handlers.ask(run, input as AskInput, effect);
    case "compact":
      return handlers.compact(run, input as CompactInput, effect);
    case "equip":
      return handlers.equip(run, input as EquipInput, effect);
    case "child":
      return handlers.child(run, input as ChildInput, effect);
    case "node":
      return handlers.node(run, input as NodeInput, effect);
    case "sleep":
      return handlers.sleep(run, input as number, effect);
    case "boundary":
      throw new Error("a boundary is its host's own");
  }
}

export const handlers: Handlers = {
  dispatch,
  hooks: pipeline,
  model: callModel,
  tool: callTool,
  ask,
  compact,
  equip,
  child: runChild,
  node: runNode,
  sleep,
};
