import { describe, expect, test } from "vitest";
import { Notices } from "./notices.ts";

describe("what Temporal logs", () => {
  const heard = () => {
    const told: string[] = [];
    return { told, notices: new Notices("here:7233", (message) => told.push(message)) };
  };

  test("is told with its error, on one line and not endlessly", () => {
    const { told, notices } = heard();
    notices.log({ message: "Activity failed", meta: { error: new Error("the disk\x1b[2J\nis full") } });
    notices.log({ message: "x".repeat(5_000) });
    expect(told[0]).toMatch(/^Temporal: Activity failed: the disk.*is full$/);
    expect(told[0]).not.toContain("\x1b");
    expect(told[1]?.length).toBeLessThan(400);
  });

  test("a server that is away is told of once a minute, whatever is tried again meanwhile", () => {
    const { told, notices } = heard();
    for (let n = 5; n < 50; n++) {
      notices.log({ message: `gRPC call poll_activity_task_queue retried ${n} times` }, n * 1000);
      notices.log({ message: "Error when recording heartbeat: Status { … }" }, n * 1000);
    }
    const away = "the Temporal server at here:7233 is away; this worker goes on when it is back";
    expect(told).toEqual([away]);
    notices.log({ message: "gRPC call poll_workflow_task_queue retried 60 times" }, 66_000);
    expect(told).toEqual([away, away]);
  });

  test("what belongs to the way we use it is not told", () => {
    const { told, notices } = heard();
    notices.log({ message: "No workflows registered, not polling for workflow tasks" });
    const error = new Error("1/0/tool/1 of run_1 was given up here: whoever is next performs it");
    notices.log({ message: "Activity failed", meta: { error } });
    expect(told).toEqual([]);
  });
});
