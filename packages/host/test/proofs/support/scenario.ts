import type { Agent, Approval, Task, Tool, ToolServers } from "trackside";
import type { DecideInput } from "../../../src/approvals/approvals.ts";
import type { Stage } from "./stage.ts";

/** A run that is to survive a crash at any point. A feature that writes something durable adds one of these. */
export interface Scenario {
  readonly name: string;
  /** The message it starts with; "Go" unless given. */
  readonly input?: string;
  /** Made anew in every process, out of what the stage provides. */
  agent(stage: Stage): Agent<readonly Tool[]>;
  /** Work that the agent's hooks defer to after the run. */
  tasks?(stage: Stage): readonly Task[];
  /** Where the tools of its `mcp_servers` come from: connected anew in every process. */
  servers?(stage: Stage): ToolServers;
  /** What people say to what is asked. Unknown outcomes are decided by what the ledger says. */
  decide?(approval: Approval): DecideInput;
  /** How its runs end; one run that completes unless given. */
  readonly ends?: readonly ("completed" | "error" | "cancelled")[];
}
