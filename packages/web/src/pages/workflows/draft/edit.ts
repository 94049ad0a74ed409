import type { Json, JsonObject } from "trackside/schema";
import { type Path, pathText } from "../../../forms/path.ts";
import {
  type Definition,
  type Edge,
  edgeId,
  edgesOf,
  type NodeDraft,
  type Position,
  withAt,
} from "./definition.ts";
import { freeId, rounded } from "./new-node.ts";
import { renamedIn } from "./references.ts";

/** A text in a field that is no value yet: JSON with an open bracket. It stays there, and nothing is saved meanwhile. */
export interface Unread {
  readonly text: string;
  readonly message: string;
}

export interface Draft {
  readonly definition: Definition;
  /** By path, as problems have it. */
  readonly unread: Readonly<Record<string, Unread>>;
}

/** A part of a workflow that was copied: from this one, from another tab, from a file. */
export interface Piece {
  readonly nodes: Readonly<Record<string, NodeDraft>>;
  readonly edges: readonly Edge[];
}

/** Everything that can be done to a workflow. Each is one step of undo. */
export type Edit =
  /** A field gets a value; undefined takes it away. Typing into the same field is one step. */
  | { readonly type: "set"; readonly path: Path; readonly value: Json | undefined }
  | { readonly type: "unread"; readonly path: Path; readonly unread: Unread }
  /** With the edge that leads to it, where it was added after another one. */
  | { readonly type: "add"; readonly id: string; readonly node: NodeDraft; readonly edge?: Edge }
  | { readonly type: "remove"; readonly nodes: readonly string[]; readonly edges: readonly string[] }
  | { readonly type: "connect"; readonly edge: Edge }
  | { readonly type: "move"; readonly to: Readonly<Record<string, Position>> }
  | { readonly type: "rename"; readonly from: string; readonly to: string }
  /** `ids` are the names its nodes get here, so that whoever pastes can select them. */
  | {
      readonly type: "paste";
      readonly piece: Piece;
      readonly ids: Readonly<Record<string, string>>;
      readonly by: Position;
    }
  | { readonly type: "replace"; readonly definition: Definition };

/** The draft after an edit. The same object where nothing changed, so that nothing is drawn or remembered. */
export function edited(draft: Draft, edit: Edit): Draft {
  if (edit.type === "replace") return { definition: edit.definition, unread: {} };
  if (edit.type === "unread")
    return { ...draft, unread: { ...draft.unread, [pathText(edit.path)]: edit.unread } };
  const definition = changed(draft.definition, edit);
  const unread = edit.type === "set" ? without(draft.unread, pathText(edit.path)) : stillThere(draft, edit);
  return definition === draft.definition && unread === draft.unread ? draft : { definition, unread };
}

function changed(definition: Definition, edit: Exclude<Edit, { type: "replace" | "unread" }>): Definition {
  switch (edit.type) {
    case "set": // the panel only offers places that a workflow has; the check tells what is wrong with the value
      return withAt(definition as JsonObject, edit.path, edit.value) as Definition;
    case "add":
      return {
        ...definition,
        nodes: { ...definition.nodes, [edit.id]: edit.node },
        ...(edit.edge && { edges: [...edgesOf(definition), edit.edge] }),
      };
    case "remove":
      return removed(definition, new Set(edit.nodes), new Set(edit.edges));
    case "connect":
      if (edgesOf(definition).some((edge) => edgeId(edge) === edgeId(edit.edge))) return definition;
      return { ...definition, edges: [...edgesOf(definition), edit.edge] };
    case "move":
      return moved(definition, edit.to);
    case "rename":
      return renamed(definition, edit.from, edit.to);
    case "paste":
      return pasted(definition, edit.piece, edit.ids, edit.by);
  }
}

function removed(definition: Definition, nodes: ReadonlySet<string>, edges: ReadonlySet<string>): Definition {
  const kept = Object.entries(definition.nodes).filter(([id]) => !nodes.has(id));
  const left = edgesOf(definition).filter(
    (edge) => !edges.has(edgeId(edge)) && !nodes.has(edge.from) && !nodes.has(edge.to),
  );
  const isSame =
    kept.length === Object.keys(definition.nodes).length && left.length === edgesOf(definition).length;
  return isSame ? definition : { ...definition, nodes: Object.fromEntries(kept), edges: left };
}

function moved(definition: Definition, to: Readonly<Record<string, Position>>): Definition {
  const nodes = { ...definition.nodes };
  let isMoved = false;
  for (const [id, place] of Object.entries(to)) {
    const node = nodes[id];
    const position = rounded(place);
    if (node === undefined || (node.position?.x === position.x && node.position.y === position.y)) continue;
    nodes[id] = { ...node, position };
    isMoved = true;
  }
  return isMoved ? { ...definition, nodes } : definition;
}

function renamed(definition: Definition, from: string, to: string): Definition {
  const { nodes } = definition;
  if (from === to || !Object.hasOwn(nodes, from) || Object.hasOwn(nodes, to)) return definition;
  const inTemplates = renamedIn(
    { nodes, output: definition.output ?? null } as JsonObject, // what templates may stand in
    { [from]: to },
  ) as Pick<Definition, "nodes" | "output">;
  const renamedNodes = Object.entries(inTemplates.nodes).map(
    ([id, node]) => [id === from ? to : id, node] as const,
  );
  return {
    ...definition,
    nodes: Object.fromEntries(renamedNodes),
    ...(definition.edges && {
      edges: definition.edges.map((edge) =>
        edge.from === from || edge.to === from
          ? { ...edge, from: edge.from === from ? to : edge.from, to: edge.to === from ? to : edge.to }
          : edge,
      ),
    }),
    ...(definition.output !== undefined && { output: inTemplates.output }),
  };
}

function pasted(
  definition: Definition,
  piece: Piece,
  ids: Readonly<Record<string, string>>,
  by: Position,
): Definition {
  const nodes = { ...definition.nodes };
  for (const [id, node] of Object.entries(piece.nodes)) {
    const own = ids[id];
    if (own === undefined) continue;
    // What it refers to inside the piece is the copy, not the original.
    const copy = renamedIn(node as JsonObject, ids) as NodeDraft; // ids are texts before and after
    const { x, y } = node.position ?? { x: 0, y: 0 };
    nodes[own] = { ...copy, position: rounded({ x: x + by.x, y: y + by.y }) };
  }
  const edges = piece.edges.flatMap((edge) => {
    const from = ids[edge.from];
    const to = ids[edge.to];
    return from === undefined || to === undefined ? [] : [{ ...edge, from, to }];
  });
  return { ...definition, nodes, edges: [...edgesOf(definition), ...edges] };
}

/** These nodes, and the edges between them. */
export function pieceOf(definition: Definition, ids: readonly string[]): Piece {
  const wanted = new Set(ids);
  const nodes = Object.entries(definition.nodes).filter(([id]) => wanted.has(id));
  return {
    nodes: Object.fromEntries(nodes),
    edges: edgesOf(definition).filter(({ from, to }) => wanted.has(from) && wanted.has(to)),
  };
}

/** Names for the nodes of a piece that nobody here has. */
export function idsFor(definition: Definition, piece: Piece): Readonly<Record<string, string>> {
  const taken = { ...definition.nodes };
  const ids: Record<string, string> = {};
  for (const [id, node] of Object.entries(piece.nodes)) {
    const own = freeId(taken, id);
    ids[id] = own;
    taken[own] = node;
  }
  return ids;
}

function without(unread: Draft["unread"], path: string): Draft["unread"] {
  const kept = Object.entries(unread).filter(([place]) => place !== path && !place.startsWith(`${path}.`));
  return kept.length === Object.keys(unread).length ? unread : Object.fromEntries(kept);
}

/** Texts of nodes that were removed or have another id go with them. */
function stillThere({ unread }: Draft, edit: Edit): Draft["unread"] {
  const gone = edit.type === "remove" ? edit.nodes : edit.type === "rename" ? [edit.from] : [];
  return gone.reduce((left, id) => without(left, pathText(["nodes", id])), unread);
}
