import type { AgentBinding, Approval, Task, ToolServers } from "trackside";
import type { DecideInput } from "../../../src/approvals/approvals.ts";
import type { Stage } from "./stage.ts";

/** A run that is to survive a crash at any point. A feature that writes something durable adds one of these. */
export interface Scenario {
  readonly name: string;
  /** The message it starts with, of a workflow the text of its input; "Go" unless given. */
  readonly input?: string;
  /** An agent or a workflow, made anew in every process out of what the stage provides. */
  agent(stage: Stage): AgentBinding;
  /** Work that the agent's hooks defer to after the run. */
  tasks?(stage: Stage): readonly Task[];
  /** Where the tools of its `mcp_servers` come from: connected anew in every process. */
  servers?(stage: Stage): ToolServers;
  /** What people say to what is asked. Unknown outcomes are decided by what the ledger says. */
  decide?(approval: Approval): DecideInput;
  /** How its runs end; one run that completes unless given. */
  readonly ends?: readonly ("completed" | "error" | "cancelled")[];
}
