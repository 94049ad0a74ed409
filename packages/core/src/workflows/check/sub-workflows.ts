import type { WorkflowNode } from "../../schema/workflow.ts";
import type { Catalog } from "./catalog.ts";
import type { Draft } from "./draft.ts";
import type { Issues } from "./issues.ts";

/** A workflow in a workflow in a workflow, and so on. */
const MOST_LEVELS = 10;

/** Checks that the workflows within a workflow come to an end: none within itself, and not too many levels of them. */
export function checkSubWorkflows(draft: Draft, { workflows }: Catalog, issues: Issues): void {
  const own = draft.name;
  const cache = new Map<string, readonly string[]>();
  const usedBy = (name: string): readonly string[] => {
    const known = cache.get(name);
    if (known !== undefined) return known;
    const nodes = name === own ? draft.nodes.values() : Object.values(workflows?.get(name)?.nodes ?? {});
    const used = [...new Set([...nodes].flatMap((node) => usedIn(node)?.name ?? []))];
    cache.set(name, used);
    return used;
  };
  const levels = new Map<string, number>();
  for (const [id, node] of draft.nodes) {
    const used = usedIn(node);
    if (used === undefined || issues.isFull) continue;
    const way = endless(used.name, own === undefined ? [] : [own], usedBy, levels);
    if (way === undefined) continue;
    const isCycle = way.indexOf(way.at(-1) ?? "") < way.length - 1;
    const allowed = isCycle
      ? "a workflow that never leads back"
      : `at most ${MOST_LEVELS} workflows within each other`;
    issues.tell(["nodes", id, ...used.path], allowed, `${way.join(" → ")}${isCycle ? "" : " → …"} given`);
  }
}

function usedIn(node: WorkflowNode | undefined) {
  if (node?.kind === "workflow") return { name: node.workflow, path: ["workflow"] };
  if (node?.kind === "map" && node.do.kind === "workflow")
    return { name: node.do.workflow, path: ["do", "workflow"] };
  return undefined;
}

/** The way to a workflow that is already on it, or one that is too long; undefined when all ways end. */
function endless(
  name: string,
  way: readonly string[],
  usedBy: (name: string) => readonly string[],
  levels: Map<string, number>,
): readonly string[] | undefined {
  const on = [...way, name];
  if (way.includes(name)) return on;
  // Those that are known to end are gone through once, however many ways lead to them.
  const known = levels.get(name);
  if (known !== undefined && on.length + known <= MOST_LEVELS + 1) return undefined;
  if (on.length > MOST_LEVELS + 1) return on;
  let below = 0;
  for (const inner of usedBy(name)) {
    const found = endless(inner, on, usedBy, levels);
    if (found !== undefined) return found;
    below = Math.max(below, 1 + (levels.get(inner) ?? 0));
  }
  levels.set(name, below);
  return undefined;
}
