import type { WorkflowRow } from "@trackside/host";
import type { WorkflowDefinition, WorkflowNode } from "trackside/schema";
import { cleanLine } from "../../screen/clean.ts";
import type { Screen } from "../../screen/screen.ts";
import { showTable } from "../../screen/table.ts";
import { when } from "../../screen/times.ts";
import { onWorkflow } from "./on-workflow.ts";

export const show = onWorkflow({
  usage: "show <name>",
  about: "shows a workflow: its nodes, what leads where, and how its runs went",
  example: "show deploy",
  async work({ trackside, scope, json, screen, line }, name) {
    const found = await trackside.workflows.get(name, scope);
    if (json) line(found);
    else showWorkflow(screen, found);
    return undefined;
  },
});

function showWorkflow(screen: Screen, found: WorkflowRow): void {
  const { description, nodes, edges, input } = found.definition as unknown as WorkflowDefinition; // as it was checked
  const version = found.source === "code" ? "in the config" : `version ${found.version}`;
  screen.line(`${screen.paint("bold", cleanLine(found.name))} ${screen.paint("dim", `· ${version}`)}`);
  if (description !== "") screen.paragraph(cleanLine(description), 2);
  const facts: readonly (readonly [string, string])[] = [
    ["changed", found.source === "code" ? "" : `${when(screen, found.updated_at)} by ${found.updated_by}`],
    ["input", inputText(input)],
    ["runs", found.runs === 0 ? "" : `${found.runs}, ${found.failures} failed`],
    ["last run", found.last_run === null ? "" : `${found.last_run.id}, ${found.last_run.status}`],
    ["waiting", found.pending_approvals === 0 ? "" : `${found.pending_approvals} for a decision`],
  ];
  for (const [label, value] of facts)
    if (value !== "") screen.line(`  ${screen.paint("dim", label.padEnd(9))} ${cleanLine(value)}`);
  screen.line();
  showTable(
    screen,
    ["NODE", "KIND", "DOES", "THEN"],
    Object.entries(nodes).map(([id, node]) => [
      { text: id, style: "bold" },
      node.kind,
      cleanLine(doing(node)),
      edges
        .filter(({ from }) => from === id)
        .map(({ to, when: port }) => (port === undefined ? to : `${to} (${port})`))
        .join(", "),
    ]),
  );
}

function doing(node: WorkflowNode): string {
  switch (node.kind) {
    case "agent":
      return node.agent;
    case "tool":
      return node.tool;
    case "workflow":
      return node.workflow;
    case "map":
      return `${workOf(node.do)} for each of ${node.over}`;
    case "approval":
      return node.message;
    case "wait":
      return "webhook" in node.for ? "until something is sent to its address" : `${node.for.seconds} seconds`;
    case "condition":
      return JSON.stringify(node.if);
  }
}

function workOf(work: Extract<WorkflowNode, { kind: "map" }>["do"]): string {
  if (work.kind === "agent") return work.agent;
  return work.kind === "tool" ? work.tool : work.workflow;
}

/** `service, version?`: what a run is started with. */
function inputText(schema: WorkflowDefinition["input"]): string {
  if (schema === null) return "any object";
  const properties = schema["properties"];
  const required = schema["required"];
  if (typeof properties !== "object" || properties === null) return "an object, as its schema says";
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.keys(properties)
    .map((key) => (needed.has(key) ? key : `${key}?`))
    .join(", ");
}
