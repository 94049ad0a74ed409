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
      tag: "definition past its deadline",
      engines: EVERY,
      reason: "No process closes the approval of a definition at its deadline (audit, contract 2).",
      fails: /this did not happen: the approval is timed out/,
    },
    {
      tag: "tool servers of a run",
      engines: ["temporal"],
      reason: "The run option `toolServers` is accepted and dropped (audit, contract 19).",
      fails: /Expected values to be strictly deep-equal/,
    },
    {
      tag: "server out of reach",
      engines: ["temporal"],
      reason:
        "A worker takes every run for one that goes on: a server that it cannot reach is left out, and the run begins without its tools (found by this suite).",
      fails: /it should have been rejected/,
    },
    {
      tag: "message after the end",
      engines: EVERY,
      reason: "A message to a run that is over is refused and opens no turn (audit, contract 25).",
      fails: /is over\. Send the message to its conversation/,
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
