/** The lifecycle points (R2). Wire values equal the names. No zod here: the loop and the dispatcher read it too. */
export const HookPoint = Object.freeze({
  START: "START",
  FINISHED: "FINISHED",
  ERROR: "ERROR",
  PRE_LLM_CALL: "PRE_LLM_CALL",
  POST_LLM_CALL: "POST_LLM_CALL",
  PRE_TOOL_CALL: "PRE_TOOL_CALL",
  POST_TOOL_CALL: "POST_TOOL_CALL",
  MODEL_ERROR: "MODEL_ERROR",
  TOOL_ERROR: "TOOL_ERROR",
  HANDOFF: "HANDOFF",
  CONTEXT_WINDOW: "CONTEXT_WINDOW",
} as const);
export type HookPoint = keyof typeof HookPoint;

export const HOOK_POINTS: readonly HookPoint[] = Object.values(HookPoint);
