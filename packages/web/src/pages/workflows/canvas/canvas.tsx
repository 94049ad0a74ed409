import {
  Background,
  BackgroundVariant,
  type Connection,
  MiniMap,
  type OnConnectEnd,
  type OnSelectionChangeParams,
  ReactFlow,
  SelectionMode,
  useReactFlow,
} from "@xyflow/react";
import { memo, type ReactNode, useCallback, useLayoutEffect, useMemo, useRef } from "react";
import { toast } from "../../../ui/toast.tsx";
import { refusal } from "../draft/connecting.ts";
import { PORTS, type Port, type Position } from "../draft/definition.ts";
import { Graph } from "../draft/graph.ts";
import { Card } from "./card.tsx";
import { type CardNode, edgesIn, nodesOf, type Scene, type WayEdge } from "./flow.ts";
import { FIT, GRID } from "./geometry.ts";
import { Way } from "./way.tsx";
import "./canvas.css";

export interface Selection {
  readonly nodes: readonly string[];
  /** By `edgeId`. */
  readonly edges: readonly string[];
}

export const NOTHING: Selection = { nodes: [], edges: [] };

export interface CanvasProps {
  readonly scene: Scene;
  readonly label: string;
  readonly readOnly: boolean;
  /** No map, no boxes: a finger pans, two zoom. */
  readonly small?: boolean;
  onSelect(selection: Selection): void;
  onMove(to: Readonly<Record<string, Position>>): void;
  onConnect(from: string, port: Port, to: string): void;
  /** A connection was dropped where there is nothing: what should come there? */
  onConnectToNew(from: string, port: Port, at: Position): void;
  onOpen(id: string): void;
  readonly children?: ReactNode;
}

const NODE_TYPES = { card: Card };
const EDGE_TYPES = { way: Way };

/**
 * Draws a workflow, and says what was done to it. What is under the pointer right now (a drag, a pan, a box) lives in the
 * canvas alone; the rest of the page hears of it when it is over.
 */
export const Canvas = memo(function Canvas(props: CanvasProps) {
  const { scene, readOnly, small = false, label, children } = props;
  const flow = useReactFlow<CardNode, WayEdge>();
  const latest = useRef(props);
  latest.current = props;
  const { definition } = scene;
  const graph = useMemo(() => new Graph(definition), [definition]);

  const first = useRef<{ nodes: CardNode[]; edges: WayEdge[] }>(undefined);
  first.current ??= { nodes: nodesOf(scene, []), edges: edgesIn(scene, []) };
  const drawn = useRef(scene);
  useLayoutEffect(() => {
    if (drawn.current === scene) return;
    drawn.current = scene;
    flow.setNodes((before) => nodesOf(scene, before));
    flow.setEdges((before) => edgesIn(scene, before));
  }, [scene, flow]);

  const onSelectionChange = useCallback(({ nodes, edges }: OnSelectionChangeParams<CardNode, WayEdge>) => {
    latest.current.onSelect({ nodes: nodes.map(({ id }) => id), edges: edges.map(({ id }) => id) });
  }, []);
  const onDragStop = useCallback((_: unknown, __: unknown, moved: CardNode[]) => {
    latest.current.onMove(Object.fromEntries(moved.map(({ id, position }) => [id, position])));
  }, []);
  const onConnect = useCallback(({ source, sourceHandle, target }: Connection) => {
    latest.current.onConnect(source, portIn(sourceHandle), target);
  }, []);
  const isValid = useCallback(
    ({ source, sourceHandle, target }: Connection | WayEdge) =>
      refusal(definition, source, portIn(sourceHandle), target, graph) === undefined,
    [definition, graph],
  );
  const onConnectEnd = useCallback<OnConnectEnd>(
    (event, { fromNode, fromHandle, toNode, isValid: isDone }) => {
      if (isDone || !fromNode || !fromHandle) return;
      const point = "changedTouches" in event ? event.changedTouches[0] : event;
      if (point === undefined) return;
      const under = document
        .elementFromPoint(point.clientX, point.clientY)
        ?.closest<HTMLElement>(".react-flow__node")?.dataset["id"];
      const other = toNode?.id ?? under;
      const { onConnect: connect, onConnectToNew, scene: now } = latest.current;
      const backwards = fromHandle.type === "target";
      if (other === undefined) {
        if (!backwards)
          onConnectToNew(
            fromNode.id,
            portIn(fromHandle.id),
            flow.screenToFlowPosition({ x: point.clientX, y: point.clientY }),
          );
        return;
      }
      // On the node is meant like on its handle.
      const from = backwards ? other : fromNode.id;
      const to = backwards ? fromNode.id : other;
      const kind = now.definition.nodes[from]?.kind;
      const port = backwards
        ? kind === undefined
          ? "out"
          : (PORTS[kind][0] ?? "out")
        : portIn(fromHandle.id);
      if (from === to) return;
      const why = refusal(now.definition, from, port, to);
      if (why === undefined) connect(from, port, to);
      else toast({ title: "Not connected", detail: why });
    },
    [flow],
  );
  return (
    <ReactFlow<CardNode, WayEdge>
      className="workflow-canvas"
      aria-label={label}
      tabIndex={0}
      defaultNodes={first.current.nodes}
      defaultEdges={first.current.edges}
      nodeTypes={NODE_TYPES}
      edgeTypes={EDGE_TYPES}
      onlyRenderVisibleElements
      fitView
      fitViewOptions={FIT}
      minZoom={0.1}
      maxZoom={2}
      snapToGrid
      snapGrid={[GRID, GRID]}
      connectionRadius={32}
      nodesDraggable={!readOnly}
      nodesConnectable={!readOnly}
      edgesFocusable={false}
      // Keys are the page's: what they do is listed there, and works on the definition.
      disableKeyboardA11y
      deleteKeyCode={null}
      selectionMode={SelectionMode.Partial}
      panOnScroll={!small}
      preventScrolling={!small}
      zoomOnDoubleClick={false}
      onSelectionChange={onSelectionChange}
      onNodeDragStop={onDragStop}
      onSelectionDragStop={(_, moved) => onDragStop(_, undefined, moved)}
      onNodeDoubleClick={(_, { id }) => latest.current.onOpen(id)}
      onNodeClick={(_, { id }) => small && latest.current.onOpen(id)}
      onConnect={onConnect}
      onConnectEnd={onConnectEnd}
      isValidConnection={isValid}
      proOptions={{ hideAttribution: true }}
    >
      <Background variant={BackgroundVariant.Dots} gap={16} size={1.5} />
      {!small && (
        <MiniMap<CardNode>
          pannable
          zoomable
          ariaLabel="Map of the workflow"
          nodeClassName={minimapClass}
          nodeBorderRadius={8}
          className="max-lg:hidden"
        />
      )}
      {children}
    </ReactFlow>
  );
});

function minimapClass({ data: { run, problem } }: CardNode): string {
  if (run !== undefined) return `minimap-${run.state}`;
  return problem === undefined ? "" : "minimap-problem";
}

/** Handles are named after ports, by `Card`. */
function portIn(handle: string | null | undefined): Port {
  return (handle ?? "out") as Port;
}
