import type {
  DispatchInput,
  DispatchOut,
  ModelInput,
  ModelOut,
  ToolInput,
  ToolOut,
} from "../../turn/world.ts";
import type { Effect } from "../effect.ts";
import type { RunContext } from "../run-context.ts";
import { dispatch } from "./dispatch.ts";
import { callModel } from "./model.ts";
import { sleep } from "./sleep.ts";
import { callTool } from "./tool.ts";

/** One handler for each effect, written once. Engines call them, journal them, or register them as activities. */
export interface Handlers {
  dispatch(run: RunContext, input: DispatchInput, effect: Effect): Promise<DispatchOut>;
  model(run: RunContext, input: ModelInput, effect: Effect): Promise<ModelOut>;
  tool(run: RunContext, input: ToolInput, effect: Effect): Promise<ToolOut>;
  sleep(run: RunContext, ms: number, effect: Effect): Promise<{ cancelled?: string }>;
}

export const handlers: Handlers = { dispatch, model: callModel, tool: callTool, sleep };
