import type { EquipInput, EquipOut } from "../../turn/world.ts";
import { digestOf } from "../digest.ts";
import type { Effect } from "../effect.ts";
import type { RunContext } from "../run-context.ts";
import { failureFrom } from "../run-result.ts";
import { definitionApproval } from "../run-supplies.ts";
import type { Supplies } from "../served.ts";
import { askApprover } from "./ask.ts";
import { openRecord } from "./open-record.ts";

/** Connects the servers of the run's agents, and has somebody asked about tools that are no longer what was approved. */
export async function equip(run: RunContext, _input: EquipInput, effect: Effect): Promise<EquipOut> {
  let supplies: Supplies;
  try {
    if (run.supplies === undefined) return {};
    supplies = await run.supplies.connect();
  } catch (error) {
    if (effect.cancelled !== undefined) return { cancelled: effect.cancelled };
    return { failure: failureFrom(error) };
  }
  if (effect.cancelled !== undefined) return { cancelled: effect.cancelled };
  const held = await Promise.all(supplies.held.map((one) => askAbout(run, one)));
  return { withheld: supplies.withheld, held };
}

type Held = Supplies["held"][number];

/** One record for each changed definition. Once it is approved, the tool joins the run, at the end of the list (H9). */
async function askAbout(
  run: RunContext,
  { agent, tool }: Held,
): Promise<NonNullable<EquipOut["held"]>[number]> {
  const reasons = [
    `the MCP server ${tool.server} has changed the definition of ${tool.name} since it was approved`,
  ];
  const { id, deadline } = await openRecord(run, {
    id: definitionApproval(run.id, tool),
    kind: "tool_definition",
    call_id: null,
    tool: tool.name,
    arguments: JSON.parse(JSON.stringify(tool.definition)),
    digest: digestOf(tool.digest),
    reasons,
    requester: agent,
    choices: ["approve", "reject"],
    response_schema: null,
  });
  if (typeof run.approver === "function")
    void askApprover(run.approvals, run.approver, { approval_id: id, kind: "tool_definition" });
  void run.approvals.closed(id).then(({ state }) => {
    if (state === "approved") return run.supplies?.admit(agent, tool);
  });
  return { approval_id: id, tool: tool.name, reasons, deadline };
}
