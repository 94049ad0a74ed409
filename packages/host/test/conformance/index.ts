import type { ConformanceSuite } from "trackside/testing";
import { approvals } from "./approvals.ts";
import { erasure } from "./erasure.ts";
import { mcp } from "./mcp.ts";
import { messages } from "./messages.ts";
import { plans } from "./plans.ts";
import { retry } from "./retry.ts";
import { schedules } from "./schedules.ts";
import type { HostStage } from "./stage.ts";
import { work } from "./work.ts";

const EVERY = ["sqlite", "postgres", "temporal"] as const;

/** What every host must do, whatever store it is on and whatever engine executes its runs. */
export const hostSuite: ConformanceSuite<HostStage> = {
  title: "Host behaviours",
  engines: EVERY,
  behaviours: [...messages, ...approvals, ...mcp, ...work, ...erasure, ...retry, ...plans, ...schedules],
  exceptions: [
    {
      tag: "definition approved later",
      engines: EVERY,
      reason:
        "Only the run that asked admits an approved definition: one that is approved after the run is held again (audit, contract 2).",
      fails: /Expected values to be strictly deep-equal/,
    },
    {
      tag: "definition approved during the run",
      engines: ["temporal"],
      reason:
        "A worker admits an approved definition only when the decision is made in its own process (audit, contract 2).",
      fails: /!== 'done'/,
    },
    {
      tag: "definition past its deadline",
      engines: EVERY,
      reason: "No process closes the approval of a definition at its deadline (audit, contract 2).",
      fails: /this did not happen: the approval is timed out/,
    },
    {
      tag: "edit without the tool",
      engines: EVERY,
      reason:
        "An edit is checked by the tool and not by the schema of the approval: where the tool is unknown (MCP, spawn, a process with the store alone), every edit is accepted (audit, contract 3).",
      fails: /it should have been rejected/,
    },
    {
      tag: "tool servers of a run",
      engines: ["temporal"],
      reason: "The run option `toolServers` is accepted and dropped (audit, contract 19).",
      fails: /Expected values to be strictly deep-equal/,
    },
    {
      tag: "message after the end",
      engines: EVERY,
      reason: "A message to a run that is over is refused and opens no turn (audit, contract 25).",
      fails: /is over\. Send the message to its conversation/,
    },
    {
      tag: "deferred closures",
      engines: EVERY,
      reason: "Deferred work runs the code of the first task of its name (audit, contract 11).",
      fails: /Expected values to be strictly deep-equal/,
    },
    {
      tag: "child's definition",
      engines: EVERY,
      reason: "The definition of a sub-agent stays, with what the model wrote into it (audit, contract 14).",
      fails: /'definitions'/,
    },
    {
      tag: "history",
      engines: ["temporal"],
      reason: "Workflow histories stay on the Temporal server (audit, contract 14).",
      fails: /the engine still has it/,
    },
  ],
};
