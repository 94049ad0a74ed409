import { type WorkflowClient, WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { type TurnArgs, WORKFLOW, WORKFLOW_TASK } from "./wire.ts";

/** Begins the workflow of a run. Its id is the run's, so twice is once. */
export type StartRun = (runId: string) => Promise<void>;

export function startRun(workflows: WorkflowClient, taskQueue: string): StartRun {
  return async (runId) => {
    const args: TurnArgs = { run_id: runId };
    try {
      await workflows.start(WORKFLOW, {
        taskQueue,
        workflowId: runId,
        args: [args],
        // A run that was parked and resumed begins a second time.
        workflowIdReusePolicy: "ALLOW_DUPLICATE",
        workflowIdConflictPolicy: "FAIL",
        workflowTaskTimeout: WORKFLOW_TASK,
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  };
}
