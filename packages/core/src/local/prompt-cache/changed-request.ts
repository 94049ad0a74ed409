import { type Rendered, renderInto } from "../../context/render.ts";
import { type Entry, nameOf } from "../../rails/dispatch.ts";
import type { Message } from "../../schema/message.ts";
import type { RailRecord } from "../../schema/verdict.ts";
import type { Requested } from "../handlers/request.ts";
import type { RunContext } from "../run-context.ts";
import type { Changed } from "./sent.ts";

/** The request as those at PRE_LLM_CALL left it. */
export function changedRequest(
  run: RunContext,
  { tail_at }: Requested,
  messages: readonly Message[],
  records: readonly RailRecord[],
): Changed {
  const opened = run.log.messages[tail_at - 1]?.id;
  const at = messages.findLastIndex(({ id }) => id === opened) + 1;
  const rendered: Rendered[] = [];
  renderInto(rendered, messages, 0, at);
  const turnAt = rendered.length;
  renderInto(rendered, messages, at, messages.length);
  return { messages: rendered, turnAt, by: changedBy(run.agent.entries("PRE_LLM_CALL"), records) };
}

/** Rails say that they changed it, unless they had a word to say of their own; plain hooks do not. */
function changedBy(entries: readonly Entry[], records: readonly RailRecord[]): string[] {
  const said = records.filter(({ shadow, reason }) => !shadow && reason === "changed messages");
  if (said.length > 0) return said.map(({ rail }) => `rail ${rail}`);
  const spoke = new Set(records.map(({ rail }) => rail));
  const able = entries.filter((entry) => entry.rail === undefined || spoke.has(nameOf(entry)));
  return able.map((entry) => `${entry.rail === undefined ? "hook" : "rail"} ${nameOf(entry)}`);
}
