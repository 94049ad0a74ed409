import type { Approval } from "./approval.ts";

/** A question as the API lists it, with what a test cares for replaced. */
export function approval(given: Partial<Approval> = {}): Approval {
  return {
    id: "apr_1",
    kind: "tool_call",
    run_id: "run_1",
    root_run_id: "run_1",
    requested_by: "ann",
    call_id: "call_1",
    tool: "deploy_service",
    arguments: { service: "checkout" },
    injected_args: {},
    digest: "sha256:1",
    reasons: ["deploy_service is in hitl_tools"],
    requester: "keeper",
    agent: "keeper",
    choices: ["approve", "reject"],
    response_schema: null,
    input_schema: null,
    tool_digest: "sha256:2",
    irreversible: false,
    state: "pending",
    requested_at: 1,
    deadline: null,
    decision: null,
    ...given,
  };
}

export function decided(given: Partial<Approval> = {}, by = "bo"): Approval {
  return approval({ state: "approved", decision: { choice: "approve", by, at: 2 }, ...given });
}
