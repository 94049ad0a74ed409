import { type Edge as FlowEdge, type Node as FlowNode, MarkerType, Position as Side } from "@xyflow/react";
import {
  type Definition,
  type Edge,
  edgeId,
  edgesOf,
  type NodeDraft,
  PORT_WORDS,
  PORTS,
  type Position,
  portOf,
  titleOf,
} from "../draft/definition.ts";
import { KIND_WORDS, summaryOf } from "../draft/words.ts";
import type { NodeRun, NodeRuns } from "../run/node-run.ts";
import { HEIGHT, PLACE_OF_ENTRY, placeOfPort, WIDTH } from "./geometry.ts";

export interface CardData extends Record<string, unknown> {
  readonly node: NodeDraft;
  /** What is wrong with it, in words; undefined where all is well. */
  readonly problem: string | undefined;
  readonly run: NodeRun | undefined;
  /** Whether a run is shown: a node without a word of it has not begun. */
  readonly inRun: boolean;
}
export type CardNode = FlowNode<CardData, "card">;
export type WayEdge = FlowEdge<{ readonly edge: Edge }, "way">;

/** What the canvas draws. */
export interface Scene {
  readonly definition: Definition;
  readonly places: Readonly<Record<string, Position>>;
  /** By node. */
  readonly problems: ReadonlyMap<string, string>;
  /** Undefined while no run is shown. */
  readonly runs: NodeRuns | undefined;
}

/** The nodes of a scene. What did not change is the same object as before, and is not drawn again. */
export function nodesOf(scene: Scene, before: readonly CardNode[]): CardNode[] {
  const known = new Map(before.map((node) => [node.id, node]));
  return Object.entries(scene.definition.nodes).map(([id, node]) => {
    const old = known.get(id);
    const data: CardData = {
      node,
      problem: scene.problems.get(id),
      run: scene.runs?.get(id),
      inRun: scene.runs !== undefined,
    };
    const at = scene.places[id] ?? { x: 0, y: 0 };
    // Whoever drags a node holds it, whatever comes meanwhile.
    const position = old?.dragging ? old.position : at;
    if (old !== undefined && sameData(old.data, data) && samePlace(old.position, position)) return old;
    return {
      id,
      type: "card",
      position: { ...position },
      data: old !== undefined && sameData(old.data, data) ? old.data : data,
      width: WIDTH,
      height: HEIGHT,
      measured: { width: WIDTH, height: HEIGHT },
      handles: handlesOf(node),
      ariaLabel: spoken(id, data),
      // One stop for Tab, and arrows from there: three hundred stops are none.
      domAttributes: { tabIndex: -1 },
      selected: old?.selected ?? false,
    };
  });
}

export function edgesIn(scene: Scene, before: readonly WayEdge[]): WayEdge[] {
  const known = new Map(before.map((edge) => [edge.id, edge]));
  const seen = new Set<string>();
  return edgesOf(scene.definition).flatMap((edge) => {
    const id = edgeId(edge);
    if (seen.has(id)) return [];
    seen.add(id);
    const old = known.get(id);
    const className = wayClass(edge, scene.runs);
    if (old !== undefined && old.data?.edge === edge && old.className === className) return [old];
    return [
      {
        id,
        type: "way",
        source: edge.from,
        target: edge.to,
        sourceHandle: portOf(edge),
        targetHandle: "in",
        data: { edge },
        className,
        ariaLabel: `${edge.from} ${PORT_WORDS[portOf(edge)]} ${edge.to}`,
        markerEnd: { type: MarkerType.ArrowClosed, width: 16, height: 16, color: "var(--control)" },
        selected: old?.selected ?? false,
        ...(edge.when !== undefined && { label: edge.when }),
      },
    ];
  });
}

function wayClass(edge: Edge, runs: NodeRuns | undefined): string {
  const run = runs?.get(edge.from);
  if (run === undefined || run.ended === null) return "";
  const took = run.port ?? (run.state === "failed" ? "failed" : run.state === "done" ? "out" : undefined);
  return took === portOf(edge) ? "is-taken" : "is-untaken";
}

function handlesOf(node: NodeDraft): NonNullable<CardNode["handles"]> {
  const half = 6;
  return [
    {
      id: "in",
      type: "target",
      position: Side.Left,
      x: PLACE_OF_ENTRY.x - half,
      y: PLACE_OF_ENTRY.y - half,
      width: 2 * half,
      height: 2 * half,
    },
    ...PORTS[node.kind].map((port) => {
      const { x, y } = placeOfPort(node.kind, port);
      return {
        id: port,
        type: "source" as const,
        position: port === "failed" ? Side.Bottom : Side.Right,
        x: x - half,
        y: y - half,
        width: 2 * half,
        height: 2 * half,
      };
    }),
  ];
}

function spoken(id: string, { node, problem, run }: CardData): string {
  const parts = [`${titleOf(id, node)}, ${KIND_WORDS[node.kind].word.toLowerCase()}`, summaryOf(node)];
  if (run !== undefined) parts.push(run.state);
  if (problem !== undefined) parts.push(`problem: ${problem}`);
  return parts.join(", ");
}

const sameData = (a: CardData, b: CardData) =>
  a.node === b.node && a.problem === b.problem && a.inRun === b.inRun && sameRun(a.run, b.run);

/** Runs are folded anew from events, so equal ones are different objects. */
function sameRun(a: NodeRun | undefined, b: NodeRun | undefined): boolean {
  if (a === b || a === undefined || b === undefined) return a === b;
  return (
    a.state === b.state &&
    a.started === b.started &&
    a.ended === b.ended &&
    a.attempt === b.attempt &&
    a.usage?.cost === b.usage?.cost &&
    a.approvalId === b.approvalId
  );
}

const samePlace = (a: Position, b: Position) => a.x === b.x && a.y === b.y;
