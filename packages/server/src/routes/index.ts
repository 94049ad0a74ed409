import type { Handlers } from "../http/handler.ts";
import { accessHandlers } from "./access.ts";
import { agentHandlers } from "./agents.ts";
import { approvalHandlers } from "./approvals.ts";
import { artifactHandlers } from "./artifacts.ts";
import { auditHandlers } from "./audit.ts";
import { conversationHandlers } from "./conversations.ts";
import { metricsHandlers } from "./metrics.ts";
import { planHandlers } from "./plans.ts";
import { providerHandlers } from "./providers.ts";
import { registryHandlers } from "./registry.ts";
import { runHandlers } from "./runs.ts";
import { scheduleHandlers } from "./schedules.ts";
import { serverHandlers } from "./server.ts";
import { sessionHandlers } from "./session.ts";
import { statsHandlers } from "./stats.ts";
import { workflowHandlers } from "./workflows.ts";

/** Who answers which endpoint. */
export const handlers: Handlers = {
  ...accessHandlers,
  ...agentHandlers,
  ...approvalHandlers,
  ...artifactHandlers,
  ...auditHandlers,
  ...conversationHandlers,
  ...metricsHandlers,
  ...planHandlers,
  ...providerHandlers,
  ...registryHandlers,
  ...runHandlers,
  ...scheduleHandlers,
  ...serverHandlers,
  ...sessionHandlers,
  ...statsHandlers,
  ...workflowHandlers,
};
