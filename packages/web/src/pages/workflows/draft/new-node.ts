import type { Definition, Kind, NodeDraft, Position } from "./definition.ts";

/** What a node of each kind begins as. What is still missing is a problem that its panel asks for. */
const BEGINNINGS: Readonly<Record<Kind, NodeDraft>> = {
  agent: { kind: "agent", agent: "", prompt: "" },
  tool: { kind: "tool", tool: "", arguments: {} },
  condition: { kind: "condition", if: { left: "", op: "==", right: "" } },
  map: { kind: "map", over: "", do: { kind: "agent", agent: "", prompt: "{{ item }}" } },
  approval: { kind: "approval", message: "" },
  wait: { kind: "wait", for: { seconds: 60 } },
  workflow: { kind: "workflow", workflow: "", input: {} },
};

export function newNode(kind: Kind, position: Position): NodeDraft {
  return { ...BEGINNINGS[kind], position: rounded(position) };
}

/** An id nobody has, made of a word: `agent`, `agent-2`, … */
export function freeId(nodes: Definition["nodes"], wanted: string): string {
  const word = idOf(wanted) || "node";
  if (!Object.hasOwn(nodes, word)) return word;
  const stem = word.replace(/-\d+$/, "").slice(0, 58);
  for (let at = 2; ; at += 1) if (!Object.hasOwn(nodes, `${stem}-${at}`)) return `${stem}-${at}`;
}

/** A letter, then letters, digits, `_` and `-`: what ids are made of. */
function idOf(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(/[^\w\s-]/g, "")
    .trim()
    .replaceAll(/\s+/g, "-")
    .replace(/^[^A-Za-z]+/, "")
    .slice(0, 64);
}

export const rounded = ({ x, y }: Position): Position => ({ x: Math.round(x), y: Math.round(y) });
