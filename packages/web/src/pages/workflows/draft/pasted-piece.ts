import type { Json, JsonObject } from "trackside/schema";
import { isObject } from "../../../forms/subschema.ts";
import { type Edge, type Kind, type NodeDraft, PORTS } from "./definition.ts";
import type { Piece } from "./edit.ts";

/** What nodes on the clipboard are called there, so that no other text is taken for them. */
const MARK = "trackside_nodes";
const MOST = 1_000;

export const pieceText = (piece: Piece): string => JSON.stringify({ [MARK]: piece }, null, 2);

/** What was copied from a canvas, here or elsewhere; undefined for whatever else is on the clipboard. */
export function pieceIn(text: string): Piece | undefined {
  if (!text.includes(MARK)) return undefined;
  const piece = objectOf(text)?.[MARK];
  if (!isObject(piece) || !isObject(piece["nodes"]) || !Array.isArray(piece["edges"])) return undefined;
  const nodes = Object.entries(piece["nodes"]).filter(([id, node]) => ID.test(id) && isNode(node));
  if (nodes.length === 0 || nodes.length > MOST) return undefined;
  const edges = (piece["edges"] as readonly Json[]).filter(isEdge); // what Array.isArray does not tell of readonly
  return { nodes: Object.fromEntries(nodes) as Record<string, NodeDraft>, edges }; // each was looked at
}

const ID = /^[A-Za-z][\w-]{0,63}$/;

function objectOf(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as Json; // what JSON.parse gives is JSON
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

type Test = (value: Json | undefined) => boolean;
const isText: Test = (value) => typeof value === "string";
const isMissingOr =
  (test: Test): Test =>
  (value) =>
    value === undefined || test(value);

const WORK: Readonly<Record<string, Readonly<Record<string, Test>>>> = {
  agent: { agent: isText, prompt: isText },
  tool: { tool: isText, arguments: isMissingOr(isObject) },
  workflow: { workflow: isText, input: isMissingOr(isObject) },
};

/** As much of each kind as the canvas needs to draw it; the rest is the check's to tell. */
const SHAPES: Readonly<Record<Kind, Readonly<Record<string, Test>>>> = {
  agent: WORK["agent"] ?? {},
  tool: WORK["tool"] ?? {},
  workflow: WORK["workflow"] ?? {},
  condition: { if: (value) => isCondition(value) },
  map: { over: isText, do: (value) => isObject(value) && fits(value, WORK[String(value["kind"])]) },
  approval: { message: isText, show: isMissingOr(isObject) },
  wait: { for: (value) => isObject(value) && (isObject(value["webhook"]) || isSeconds(value["seconds"])) },
};

const isSeconds: Test = (value) => typeof value === "number" || typeof value === "string";

function isNode(value: Json): boolean {
  if (!isObject(value)) return false;
  const kind = String(value["kind"]);
  const { name, position } = value;
  const isPlaced =
    position === undefined || (isObject(position) && isNumber(position["x"]) && isNumber(position["y"]));
  return (
    Object.hasOwn(SHAPES, kind) && isMissingOr(isText)(name) && isPlaced && fits(value, SHAPES[kind as Kind])
  ); // one of its keys
}

const isNumber: Test = (value) => typeof value === "number" && Number.isFinite(value);

function fits(value: JsonObject, shape: Readonly<Record<string, Test>> | undefined): boolean {
  return shape !== undefined && Object.entries(shape).every(([key, test]) => test(value[key]));
}

function isCondition(value: Json | undefined, depth = 20): boolean {
  if (!isObject(value) || depth === 0) return false;
  const group = value["all"] ?? value["any"];
  if (Array.isArray(group))
    return group.length > 0 && (group as readonly Json[]).every((one) => isCondition(one, depth - 1));
  if ("not" in value) return isCondition(value["not"], depth - 1);
  return isText(value["op"]) && value["left"] !== undefined;
}

function isEdge(value: Json): value is Edge & JsonObject {
  if (!isObject(value) || !isText(value["from"]) || !isText(value["to"])) return false;
  return isMissingOr((when) => PORTS.condition.concat("rejected").includes(when as never))(value["when"]); // any text is looked up
}
