import { isJsonObject, type Json, type JsonObject } from "../../schema/json.ts";
import type { UserMessage } from "../../schema/message.ts";
import {
  MOST_ITEMS,
  type WorkflowDefinition,
  type WorkflowNode,
  type WorkflowNodeOf,
  type WorkflowWork,
} from "../../schema/workflow.ts";
import { compileSchema } from "../../tools/compile-schema.ts";
import type { AskOut, ChildOut, NodeInput, NodeOut } from "../../turn/world.ts";
import { CHUNK } from "../../workflows/chunk.ts";
import { decide } from "../../workflows/condition.ts";
import { outputIn, outputMessage } from "../../workflows/outputs.ts";
import { outputOf } from "../../workflows/pinned-graph.ts";
import { type Filled, fill, fillText, type Values } from "../../workflows/template.ts";
import { digestOf } from "../digest.ts";
import type { Effect } from "../effect.ts";
import type { RunContext } from "../run-context.ts";
import { callOf } from "./model-message.ts";
import { gateOf, leftOpen, openRecord } from "./open-record.ts";

/** Works out what a node has to do, or what came of it. What it reads and leaves is in the run's record. */
export async function runNode(run: RunContext, input: NodeInput, effect: Effect): Promise<NodeOut> {
  const { workflow } = run.agent.definition;
  if (workflow === undefined) throw new Error(`the run ${run.id} is no workflow's`);
  if (effect.cancelled !== undefined) {
    const id = input.node === null ? "" : new Place(run, input.node, input.attempt).id("approval");
    const gate = leftOpen(run, (record) => record.id === id);
    return gate ? { gate } : { cancelled: effect.cancelled };
  }
  const values = valuesOf(run, input);
  if (input.node === null) return finish(run, workflow, values);
  const node = workflow.nodes[input.node];
  if (node === undefined) throw new Error(`the workflow "${workflow.name}" has no node "${input.node}"`);
  const place = new Place(run, input.node, input.attempt);
  return input.doing === "enter" ? enter(place, effect, node, values) : settle(place, node, input);
}

/** Where a node's messages are kept. */
class Place {
  readonly run: RunContext;
  readonly node: string;
  readonly #at: string;

  constructor(run: RunContext, node: string, attempt: number) {
    this.run = run;
    this.node = node;
    this.#at = `${run.id}.${node}.${attempt}`;
  }

  /** Of its approval, and of its calls. */
  id(what: string): string {
    return `${this.#at}.${what}`;
  }

  /** Records what its runs are begun with, a part for each. */
  opens(texts: readonly string[]): string {
    const parts = texts.map((text) => ({ type: "text" as const, text }));
    const message: UserMessage = { id: this.id("in"), role: "user", parts };
    this.run.record(message);
    return message.id;
  }

  leaves(output: Json): string {
    const message = outputMessage(this.id("out"), output);
    this.run.record(message);
    return message.id;
  }
}

function valuesOf(run: RunContext, { from }: NodeInput): Values {
  return {
    input: inputOf(run),
    node: (id) => (Object.hasOwn(from, id) ? outputIn(run.message(from[id] ?? "")) : undefined),
  };
}

/** What the run was started with: JSON, checked when it was. */
function inputOf({ userMessage }: RunContext): Json {
  const [part] = userMessage.parts;
  return part?.type === "text" ? (JSON.parse(part.text) as Json) : null;
}

function enter(place: Place, effect: Effect, node: WorkflowNode, values: Values): NodeOut | Promise<NodeOut> {
  switch (node.kind) {
    case "condition": {
      const found = decide(node.if, values);
      if (!found.ok) return invalid(`if: ${found.problem}`);
      return { port: found.value ? "true" : "false", message_id: place.leaves(found.value) };
    }
    case "map":
      return enterMap(place, effect, node, values);
    case "approval":
      return openApproval(place, node, values);
    case "wait":
      return "seconds" in node.for ? waitFor(node.for.seconds, values) : openWait(place, node.for.webhook);
    case "tool": {
      const args = fillWork(node, values);
      return args.ok ? makeCalls(place, effect, node, [args.value]) : invalid(args.problem);
    }
    default:
      return openRun(place, node, values);
  }
}

async function openRun(place: Place, work: WorkflowWork, values: Values): Promise<NodeOut> {
  const opening = await openingOf(place.run, work, values);
  return opening.ok ? { message_id: place.opens([textOf(opening.value)]) } : invalid(opening.problem);
}

/** The same for a run, whose workflow may refuse its input. */
async function openingOf(run: RunContext, work: WorkflowWork, values: Values): Promise<Filled> {
  const filled = fillWork(work, values);
  if (!filled.ok || work.kind !== "workflow") return filled;
  const read = await run.agent.readInputOf(work.workflow, filled.value);
  return read.ok
    ? { ok: true, value: JSON.parse(read.text) as Json }
    : { ok: false, problem: `input: ${read.problem}` };
}

/** What one piece of work is given: a prompt, arguments, or an input. */
function fillWork(work: WorkflowWork, values: Values): Filled {
  if (work.kind === "agent") {
    const prompt = fillText(work.prompt, values);
    if (!prompt.ok) return { ok: false, problem: `prompt: ${prompt.problem}` };
    if (textOf(prompt.value).trim() === "")
      return { ok: false, problem: "prompt: it comes to an empty text" };
    return prompt;
  }
  const [field, template] = work.kind === "tool" ? ["arguments", work.arguments] : ["input", work.input];
  const filled = fill(template as Json, values);
  if (!filled.ok) return { ok: false, problem: `${field}: ${filled.problem}` };
  if (!isJsonObject(filled.value)) return { ok: false, problem: `${field}: an object expected` };
  return filled;
}

async function makeCalls(
  place: Place,
  effect: Effect,
  { tool: name }: Extract<WorkflowWork, { kind: "tool" }>,
  all: readonly Json[],
): Promise<NodeOut> {
  const { run } = place;
  const parts = all.map((args, i) => {
    const call_id = place.id(`c${i}`);
    return {
      type: "tool_call" as const,
      call_id,
      wire_id: call_id,
      tool: name,
      arguments: args as JsonObject, // looked at when it was filled in
    };
  });
  const message = { id: place.id("call"), role: "assistant" as const, parts };
  run.record(message);
  const calls = await Promise.all(parts.map((part, index) => callOf(run, effect, part, index)));
  return { message_id: message.id, calls, ...(isOnce(run, name) ? { once: true } : {}) };
}

/** What it does must not happen twice: its node is not tried again (T5). */
function isOnce({ agent }: RunContext, tool: string): boolean {
  return agent.toolByName.get(tool)?.effect === "once";
}

async function enterMap(
  place: Place,
  effect: Effect,
  node: WorkflowNodeOf<"map">,
  values: Values,
): Promise<NodeOut> {
  const list = fill(node.over, values);
  if (!list.ok) return invalid(`over: ${list.problem}`);
  const items = list.value;
  if (!Array.isArray(items)) return invalid(`over: a list expected, ${typeName(items)} given`);
  if (items.length > MOST_ITEMS)
    return invalid(`over: at most ${MOST_ITEMS} items expected, ${items.length} given`);
  const work: Json[] = [];
  for (const [index, item] of items.entries()) {
    const filled = await openingOf(place.run, node.do, { ...values, item, index });
    if (!filled.ok) return invalid(`do, item ${index}: ${filled.problem}`);
    work.push(filled.value);
  }
  if (work.length > CHUNK) {
    const parts: string[] = [];
    for (let at = 0; at < work.length; at += CHUNK)
      parts.push(JSON.stringify({ items: work.slice(at, at + CHUNK) }));
    const once = node.do.kind === "tool" && isOnce(place.run, node.do.tool) ? { once: true as const } : {};
    return { items: work.length, chunks: parts.length, message_id: place.opens(parts), ...once };
  }
  if (node.do.kind === "tool")
    return { items: work.length, ...(await makeCalls(place, effect, node.do, work)) };
  return { items: work.length, message_id: place.opens(work.map(textOf)) };
}

async function openApproval(
  place: Place,
  node: WorkflowNodeOf<"approval">,
  values: Values,
): Promise<NodeOut> {
  const message = fillText(node.message, values);
  if (!message.ok) return invalid(`message: ${message.problem}`);
  const shown = fill(node.show, values);
  if (!shown.ok) return invalid(`show: ${shown.problem}`);
  const asked = textOf(message.value);
  return open(place, {
    reasons: [asked],
    arguments: shown.value as JsonObject, // an object, filled in
    choices: ["approve", "reject"],
    response: node.response,
    deadline: node.deadline_seconds,
    irreversible: node.irreversible,
  });
}

function openWait(
  place: Place,
  { response, deadline_seconds }: { response: JsonObject | null; deadline_seconds: number | null },
): Promise<NodeOut> {
  return open(place, {
    reasons: ["It waits for somebody to send something to its address."],
    arguments: null,
    choices: ["submit", "reject"],
    response,
    deadline: deadline_seconds,
    irreversible: false,
  });
}

/** The record of L8: the same inbox, deadlines and races as for a tool call (W5). */
async function open(
  place: Place,
  about: {
    readonly reasons: string[];
    readonly arguments: JsonObject | null;
    readonly choices: string[];
    readonly response: JsonObject | null;
    readonly deadline: number | null;
    readonly irreversible: boolean;
  },
): Promise<NodeOut> {
  const { run, node } = place;
  const { reasons, response, choices } = about;
  const record = await openRecord(
    run,
    {
      id: place.id("approval"),
      kind: "workflow_node",
      reasons,
      call_id: null,
      tool: node,
      arguments: about.arguments,
      digest: digestOf([reasons, about.arguments, response]),
      choices,
      response_schema: response,
      ...(about.irreversible ? { irreversible: true as const } : {}),
    },
    { seconds: about.deadline },
  );
  return { gate: gateOf(record, node, node) };
}

function waitFor(seconds: number | string, values: Values): NodeOut {
  const filled = fill(seconds, values);
  if (!filled.ok) return invalid(`for.seconds: ${filled.problem}`);
  const { value } = filled;
  if (typeof value !== "number" || !(value >= 0) || value > LONGEST_S)
    return invalid(`for.seconds: a number from 0 to ${LONGEST_S} expected`);
  return { wait_ms: Math.round(value * 1000) };
}

const LONGEST_S = 31_536_000;

async function settle(place: Place, node: WorkflowNode, input: NodeInput): Promise<NodeOut> {
  const { children, decided } = input;
  if (decided) return { message_id: place.leaves(answered(place.run, decided)) };
  if (node.kind === "map") return settleMap(place, node, input);
  const [child] = children ?? [];
  if (child === undefined) throw new Error(`nothing came of the node "${place.node}"`);
  const said = await answerOf(place.run, child);
  return said === undefined ? lost(child) : { message_id: place.leaves(said) };
}

/** What somebody answered, or who said yes and why. */
function answered(run: RunContext, { approval_id, decided_by, reason }: AskOut): Json {
  const record = run.approvals.get(approval_id);
  if (record === undefined) throw new Error(`the approval ${approval_id} is gone`);
  if (record.decision?.response !== undefined) return record.decision.response;
  return { decided_by, reason };
}

async function settleMap(
  place: Place,
  node: WorkflowNodeOf<"map">,
  { children, results, chunked }: NodeInput,
): Promise<NodeOut> {
  const outputs: Json[] = [];
  let failed = 0;
  const collects = node.on_error === "collect";
  const add = (output: Json | undefined, failure: ChildOut["failure"]) => {
    if (!collects) outputs.push(output ?? null);
    else if (output !== undefined) outputs.push({ status: "completed", output });
    else {
      failed += 1;
      const { code, message } = failure ?? { code: "internal", message: "nothing came of it" };
      outputs.push({ status: "failed", failure: { code, message } });
    }
  };
  for (const id of results ?? []) {
    const message = place.run.message(id);
    const failure =
      message?.role === "tool" && message.output.type === "error" ? message.output.failure : undefined;
    add(outputIn(message), failure);
  }
  for (const child of children ?? []) {
    const said = child.failure ? undefined : await answerOf(place.run, child);
    if (said === undefined && child.failure === undefined) return lost(child);
    if (!chunked) add(said, child.failure);
    else if (Array.isArray(said)) {
      for (const one of said as readonly Json[]) {
        if (isJsonObject(one) && one["status"] === "failed" && collects) failed += 1;
        outputs.push(one);
      }
    }
  }
  return { message_id: place.leaves(outputs), ...(collects ? { items_failed: failed } : {}) };
}

async function answerOf(run: RunContext, { run_id }: ChildOut): Promise<Json | undefined> {
  const said = await run.parts.children.answer(run, run_id);
  return said && (said.structured ?? said.text);
}

function lost({ run_id }: ChildOut): NodeOut {
  return { failure: { code: "internal", message: `What the run ${run_id} came to is not there.` } };
}

/** The workflow's own output. */
async function finish(run: RunContext, workflow: WorkflowDefinition, values: Values): Promise<NodeOut> {
  const output = fill(outputOf(workflow), values);
  if (!output.ok) return { failure: { code: "output_invalid", message: `output: ${output.problem}` } };
  if (workflow.output_schema !== null) {
    const checked = await compileSchema(workflow.output_schema).check(output.value);
    if (!checked.ok)
      return {
        failure: {
          code: "output_invalid",
          message: `The output does not fit output_schema: ${checked.problem}`,
        },
      };
  }
  const id = `${run.id}.output`;
  run.record({ id, role: "assistant", parts: [{ type: "text", text: JSON.stringify(output.value) }] });
  return { message_id: id };
}

function invalid(message: string): NodeOut {
  return { failure: { code: "node_invalid", message } };
}

function textOf(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function typeName(value: Json): string {
  if (value === null) return "nothing";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
