import type { Approval } from "../../schema/approval.ts";
import type { Tool } from "../../tools/define-tool.ts";
import type { AskInput } from "../../turn/world.ts";
import type { Maybe } from "../maybe.ts";
import type { RunContext } from "../run-context.ts";
import { decisionProblem } from "./decision-problem.ts";

/** What a record is about. The rest is the same for all: whose it is, since when, and how long it waits. */
type About = Omit<
  Approval,
  "run_id" | "requester" | "injected_args" | "state" | "requested_at" | "deadline" | "decision"
> &
  Partial<Pick<Approval, "requester" | "injected_args">>;

interface RecordOptions {
  /** The tool it is about, which may check more than its JSON Schema says. */
  readonly tool?: Tool;
  /** How long it waits; null waits for ever. The agent's `hitl_timeout_seconds` by default. */
  readonly seconds?: number | null;
}

/** Opens the record of something a human has to decide on (L1, L8). */
export function openRecord(
  run: RunContext,
  about: About,
  { tool, seconds = run.agent.definition.hitl_timeout_seconds }: RecordOptions = {},
): Maybe<Approval> {
  const now = run.parts.clock.now();
  const { name } = run.agent.definition;
  const record: Approval = {
    requester: name,
    injected_args: {},
    ...about,
    run_id: run.id,
    state: "pending",
    requested_at: now,
    deadline: seconds === null ? null : now + seconds * 1000,
    decision: null,
  };
  return run.approvals.open(record, (decision) => decisionProblem(record, decision, tool));
}

/** What the loop waits for. */
export function gateOf(
  { id, kind, reasons, digest, deadline, requested_at }: Approval,
  call_id: string,
  tool: string,
): AskInput {
  return { approval_id: id, kind, call_id, tool, reasons, digest, deadline, requested_at };
}

/**
 * The gate of a record that an earlier life of this effect opened, and whose delivery died with that life. A cancelled
 * effect answers with it, so that the loop closes the record as it does any other: else it would stay pending for ever.
 */
export function leftOpen(run: RunContext, isIts: (record: Approval) => boolean): AskInput | undefined {
  const record = run.approvals.pending.find(isIts);
  return record && gateOf(record, record.call_id ?? record.tool ?? "", record.tool ?? "");
}
