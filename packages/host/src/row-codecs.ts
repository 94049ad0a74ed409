import { tokenBody, userBody } from "./access/index.ts";
import { agentBody, agentVersionBody } from "./agents/agent-rows.ts";
import { auditBody } from "./audit/index.ts";
import {
  approvalBody,
  branchBody,
  commitBody,
  conversationBody,
  deferredBody,
  inboxBody,
  outcomeBody,
  runBody,
} from "./journal/row-codecs.ts";
import { planBody, planStepBody, planVersionBody, planWorkBody } from "./plans/plan-rows.ts";
import { ruleBody } from "./rules/index.ts";
import { firingBody, scheduleBody } from "./schedules/schedule-rows.ts";
import type { RowCodec } from "./store/rows/versioned.ts";
import { webhookBody } from "./webhooks/index.ts";
import { workflowBody, workflowVersionBody } from "./workflows/workflow-rows.ts";

const all = [
  agentBody,
  agentVersionBody,
  approvalBody,
  auditBody,
  branchBody,
  commitBody,
  conversationBody,
  deferredBody,
  firingBody,
  inboxBody,
  outcomeBody,
  planBody,
  planStepBody,
  planVersionBody,
  planWorkBody,
  ruleBody,
  runBody,
  scheduleBody,
  tokenBody,
  userBody,
  webhookBody,
  workflowBody,
  workflowVersionBody,
] as readonly RowCodec<unknown>[];

/** Every kind of row that carries a version, by the name of its file in the corpus (test/store/corpus). */
export const rowCodecs: Readonly<Record<string, RowCodec<unknown>>> = Object.fromEntries(
  all.map((codec) => [codec.name, codec]),
);
