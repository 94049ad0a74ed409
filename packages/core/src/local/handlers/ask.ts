import type { Approval } from "../../schema/approval.ts";
import type { JsonObject } from "../../schema/json.ts";
import type { Tool } from "../../tools/define-tool.ts";
import type { AskInput, AskOut } from "../../turn/world.ts";
import type { ApprovalDesk, Approve } from "../approvals.ts";
import { digestOf } from "../digest.ts";
import type { Effect } from "../effect.ts";
import { after, type Maybe } from "../maybe.ts";
import type { RunContext } from "../run-context.ts";
import { gateOf, openRecord } from "./open-record.ts";

const CHOICES = {
  tool_call: ["approve", "reject"],
  client_tool: ["submit", "reject"],
  unknown_outcome: ["ran", "run", "give_up"],
  elicitation: ["accept", "decline"],
} as const;

/** What a call may have to wait for. */
export type Question = Pick<Approval, "id" | "reasons"> & {
  readonly kind: Exclude<keyof typeof CHOICES, "elicitation">;
};

/** Opens the record of a call that has to be decided on, before anybody hears of it (L1). */
export function openApproval(
  run: RunContext,
  tool: Tool,
  call: {
    readonly id: string;
    readonly arguments: JsonObject;
    readonly injected?: Approval["injected_args"] | undefined;
  },
  about: Question,
): Maybe<AskInput> {
  const { kind } = about;
  const opened = openRecord(
    run,
    {
      ...about,
      call_id: call.id,
      tool: tool.name,
      arguments: call.arguments,
      injected_args: call.injected ?? {},
      digest: digestOf(call.arguments),
      choices: [...CHOICES[kind]],
      response_schema: kind === "tool_call" ? null : (tool.output?.jsonSchema ?? null),
      input_schema: kind === "tool_call" ? tool.input.jsonSchema : null,
      tool_digest: toolDigest(tool),
      ...(tool.irreversible ? { irreversible: true as const } : {}),
    },
    { tool },
  );
  return after(opened, (record) => gateOf(record, call.id, tool.name));
}

/** Opens the record of a question that a running tool asks the person behind the run (L8). */
export function openElicitation(
  run: RunContext,
  tool: Tool,
  callId: string,
  { id, message, schema }: { readonly id: string; readonly message: string; readonly schema: JsonObject },
): Maybe<AskInput> {
  const opened = openRecord(
    run,
    {
      id,
      kind: "elicitation",
      reasons: [message],
      call_id: callId,
      tool: tool.name,
      arguments: null,
      digest: digestOf({ message, schema }),
      choices: [...CHOICES.elicitation],
      response_schema: schema,
    },
    { tool },
  );
  return after(opened, (record) => gateOf(record, callId, tool.name));
}

/** What a decision was made about, beside the arguments: a tool whose schemas changed is another tool. */
export function toolDigest(tool: Tool): string {
  return digestOf([tool.input.jsonSchema, tool.output?.jsonSchema ?? null]);
}

/** Waits for a decision: by a human, the deadline or a cancel, whichever comes first. */
export async function ask(run: RunContext, gate: AskInput, effect: Effect): Promise<AskOut> {
  const deciding = run.approvals.closed(gate.approval_id);
  const listener = { cancelled: (reason: string) => run.approvals.cancel(gate.approval_id, reason) };
  effect.onCancel(listener);
  if (run.approver === undefined)
    void run.approvals.decide(gate.approval_id, { ...NOBODY, choice: refusal(gate.kind) }).catch(() => {});
  else if (typeof run.approver === "function") void askApprover(run.approvals, run.approver, gate);
  const closed = await deciding;
  effect.offCancel(listener);
  return read(run, gate, closed);
}

/** How each kind is turned down. */
function refusal(kind: AskInput["kind"]): string {
  if (kind === "elicitation") return "decline";
  return kind === "unknown_outcome" ? "give_up" : "reject";
}

const NOBODY = {
  by: "nobody",
  reason: "nobody is there to approve it (pass `approve` to run(), or use stream().decide())",
};

/** Calls the run's approver. One that throws, or decides what cannot be, has rejected: nothing is approved by accident. */
export async function askApprover(
  desk: Pick<ApprovalDesk, "pending" | "decide">,
  approver: Approve,
  { approval_id: id, kind }: { readonly approval_id: string; readonly kind: Approval["kind"] },
): Promise<void> {
  const approval = desk.pending.find((one) => one.id === id);
  if (approval === undefined) return;
  try {
    const decision = await approver(approval);
    await desk.decide(id, { by: "approve", ...decision });
  } catch (error) {
    const reason = `the approver failed: ${error instanceof Error ? error.message : String(error)}`;
    try {
      await desk.decide(id, { choice: refusal(kind), by: "approve", reason });
    } catch {
      // somebody else decided
    }
  }
}

/** What was decided stays in the record; the loop hears the outcome. */
function read(run: RunContext, gate: AskInput, closed: Approval): AskOut {
  const edited = closed.decision?.edited_arguments;
  const out = {
    approval_id: closed.id,
    choice: closed.decision?.choice ?? "",
    digest: edited === undefined ? gate.digest : digestOf(edited),
    reason: closed.decision?.reason ?? "",
    decided_by: closed.decision?.by ?? "",
    wait_ms: run.parts.clock.now() - gate.requested_at,
    deadline: closed.deadline,
  };
  if (closed.state === "cancelled")
    return { ...out, status: "rejected", cancelled: closed.decision?.reason ?? "" };
  return { ...out, status: closed.state === "pending" ? "rejected" : closed.state };
}
