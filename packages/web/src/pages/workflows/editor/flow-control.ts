import { useReactFlow } from "@xyflow/react";
import { useMemo, useRef } from "react";
import type { Selection } from "../canvas/canvas.tsx";
import type { CardNode, WayEdge } from "../canvas/flow.ts";
import { FIT, HEIGHT, WIDTH } from "../canvas/geometry.ts";
import type { Position } from "../draft/definition.ts";

/** Nodes that are drawn only where they are seen come a moment after the view. */
const TRIES = 10;

/** What the page does with the canvas beyond the definition: selection, view and focus. */
export function useFlow() {
  const flow = useReactFlow<CardNode, WayEdge>();
  const frame = useRef<HTMLDivElement>(null);
  return useMemo(() => {
    const focus = (id: string | undefined, tries = TRIES): void => {
      const box = frame.current;
      if (box === null) return;
      const wanted = id === undefined ? ".react-flow" : `.react-flow__node[data-id="${CSS.escape(id)}"]`;
      const node = box.querySelector<HTMLElement>(wanted);
      if (node) node.focus({ preventScroll: true });
      else if (tries > 0) requestAnimationFrame(() => focus(id, tries - 1));
    };
    const isSeen = (at: Position): boolean => {
      const box = frame.current?.getBoundingClientRect();
      if (box === undefined) return true;
      const from = flow.flowToScreenPosition(at);
      const to = flow.flowToScreenPosition({ x: at.x + WIDTH, y: at.y + HEIGHT });
      return from.x >= box.left && from.y >= box.top && to.x <= box.right && to.y <= box.bottom;
    };
    return {
      frame,
      focus,
      /** Selects, and with `show` brings it into sight and puts the focus on it. */
      select({ nodes, edges }: Selection, show: boolean): void {
        const wantedNodes = new Set(nodes);
        const wantedEdges = new Set(edges);
        flow.setNodes((all) => all.map((one) => chosen(one, wantedNodes.has(one.id))));
        flow.setEdges((all) => all.map((one) => chosen(one, wantedEdges.has(one.id))));
        const [first] = nodes;
        if (!show || first === undefined) return;
        // After the canvas has drawn what was just added.
        setTimeout(() => {
          const node = flow.getNode(first);
          if (node && !isSeen(node.position))
            void flow.setCenter(node.position.x + WIDTH / 2, node.position.y + HEIGHT / 2, {
              zoom: flow.getZoom(),
            });
          const typing = document.activeElement;
          const isTyping = typing instanceof HTMLInputElement || typing instanceof HTMLTextAreaElement;
          if (nodes.length === 1 && !isTyping) focus(first);
        });
      },
      fit(): void {
        setTimeout(() => void flow.fitView(FIT));
      },
      zoom(by: number): void {
        void flow.zoomTo(flow.getZoom() * by);
      },
      /** The middle of what is seen. */
      middle(): Position {
        const box = frame.current?.getBoundingClientRect();
        if (box === undefined) return { x: 0, y: 0 };
        const at = flow.screenToFlowPosition({ x: box.left + box.width / 2, y: box.top + box.height / 2 });
        return { x: at.x - WIDTH / 2, y: at.y - HEIGHT / 2 };
      },
    };
  }, [flow]);
}

function chosen<T extends { selected?: boolean }>(one: T, wanted: boolean): T {
  return (one.selected ?? false) === wanted ? one : { ...one, selected: wanted };
}
