import type { HookPoint } from "trackside/schema";

/** The points of a run, in its order, in words. */
export const POINTS: Readonly<Record<HookPoint, string>> = {
  START: "a run starts",
  PRE_LLM_CALL: "before a model call",
  POST_LLM_CALL: "after a model call",
  PRE_TOOL_CALL: "before a tool call",
  POST_TOOL_CALL: "after a tool call",
  MODEL_ERROR: "a model call failed",
  TOOL_ERROR: "a tool call failed",
  HANDOFF: "the turn is handed over",
  CONTEXT_WINDOW: "the context is full",
  ERROR: "the run failed",
  FINISHED: "the run is over",
};

export const POINT_OPTIONS = Object.entries(POINTS).map(([value, hint]) => ({ value, label: value, hint }));
