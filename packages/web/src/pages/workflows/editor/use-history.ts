import { useCallback, useMemo, useReducer, useState } from "react";
import { pathText } from "../../../forms/path.ts";
import type { Issue } from "../../agents/draft/issues.ts";
import type { Definition } from "../draft/definition.ts";
import type { Draft, Edit } from "../draft/edit.ts";
import { historyOf, stepped } from "../draft/history.ts";
import { placesOf } from "../draft/layout.ts";

const draftOf = (definition: Definition): Draft => ({ definition: placed(definition), unread: {} });

/** Nodes without a place get one when the workflow is opened, and keep it from there on. */
export function placed(definition: Definition): Definition {
  if (Object.values(definition.nodes).every(({ position }) => position !== undefined)) return definition;
  const places = placesOf(definition);
  const nodes = Object.entries(definition.nodes).map(
    ([id, node]) => [id, { ...node, position: node.position ?? places[id] ?? { x: 0, y: 0 } }] as const,
  );
  return { ...definition, nodes: Object.fromEntries(nodes) };
}

/** The draft with its undo, and how far it is from what was saved. */
export function useHistory(start: Definition) {
  const [base, setBase] = useState(() => placed(start));
  const [history, dispatch] = useReducer(stepped, start, (definition) => historyOf(draftOf(definition)));
  const { definition, unread } = history.present;
  const dirty = useMemo(
    () =>
      Object.keys(unread).length > 0 ||
      (definition !== base && JSON.stringify(definition) !== JSON.stringify(base)),
    [definition, unread, base],
  );
  const edit = useCallback((step: Edit) => dispatch({ type: "edit", edit: step, at: performance.now() }), []);
  const undo = useCallback(() => dispatch({ type: "undo" }), []);
  const redo = useCallback(() => dispatch({ type: "redo" }), []);
  const unreadable = useMemo<readonly Issue[]>(
    () => Object.entries(unread).map(([path, { message }]) => ({ path, message })),
    [unread],
  );
  return {
    draft: history.present,
    dirty,
    unreadable,
    mayUndo: history.past.length > 0,
    mayRedo: history.future.length > 0,
    edit,
    undo,
    redo,
    /** From here on this is what was saved. The draft is that too, unless somebody went on editing. */
    rebase(next: Definition, keep = false) {
      setBase(placed(next));
      if (!keep)
        dispatch({
          type: "edit",
          edit: { type: "replace", definition: placed(next) },
          at: performance.now(),
        });
    },
    /** What was saved is what there is. */
    settle(next: Definition) {
      setBase(next);
    },
    reset() {
      dispatch({ type: "edit", edit: { type: "replace", definition: base }, at: performance.now() });
    },
  };
}

/** Whether a problem is at a node. */
export function nodeOf(path: string): string | undefined {
  return /^nodes\.([A-Za-z][\w-]*)/.exec(path)?.[1];
}

/** What is wrong with each node, in words. */
export function problemsByNode(issues: readonly Issue[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { path, message } of issues) {
    const id = nodeOf(path);
    if (id === undefined) continue;
    const words = message.startsWith(pathText(["nodes", id]))
      ? message.slice(pathText(["nodes", id]).length + 1)
      : message;
    const before = found.get(id);
    found.set(id, before === undefined ? words : `${before}; ${words}`);
  }
  return found;
}
