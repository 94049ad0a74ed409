import { Handle, type NodeProps, type ReactFlowState, Position as Side, useStore } from "@xyflow/react";
import { Fragment, memo } from "react";
import { cx } from "../../../ui/class-names.ts";
import { WarningIcon } from "../../../ui/icons.tsx";
import { type Kind, PORT_WORDS, PORTS, titleOf } from "../draft/definition.ts";
import { KIND_WORDS, summaryOf } from "../draft/words.ts";
import type { CardData, CardNode } from "./flow.ts";
import { placeOfPort } from "./geometry.ts";
import { KIND_ICONS } from "./kind-icons.tsx";
import { NodeStateBadge, TimeAndCost } from "./node-state.tsx";

/** From so far away nobody reads small print, nor hits a port: less is drawn, and what is drawn is larger. */
const isFar = (state: ReactFlowState) => state.transform[2] < 0.4;

/** A node: what it is, what it is called, what it does; and in a run how it went. */
export const Card = memo(function Card({ id, data, selected, isConnectable }: NodeProps<CardNode>) {
  const far = useStore(isFar);
  const { problem, run, inRun } = data;
  const idle = inRun && (run === undefined || run.state === "skipped");
  return (
    <div
      className={cx(
        "group flex size-full flex-col justify-between rounded-lg border bg-raised px-3 py-2",
        selected ? "border-accent shadow-[0_0_0_1px_var(--accent)]" : "border-control",
        problem !== undefined && !selected && "border-red",
        run?.state === "failed" && !selected && "border-red",
        run?.state === "waiting" && !selected && "border-amber shadow-[0_0_0_1px_var(--amber)]",
        idle && "border-dashed",
      )}
    >
      {far ? <FromFar id={id} data={data} /> : <Words id={id} data={data} idle={idle} />}
      {isConnectable && !far ? (
        <Ports id={id} kind={data.node.kind} selected={selected} />
      ) : (
        <Dots kind={data.node.kind} />
      )}
    </div>
  );
});

function FromFar({ id, data: { node } }: { id: string; data: CardData }) {
  const KindIcon = KIND_ICONS[node.kind];
  return (
    <div className="flex min-h-0 flex-1 items-center gap-2">
      <KindIcon width={24} height={24} className="shrink-0 text-muted" />
      <p className="line-clamp-2 min-w-0 text-xl font-medium break-words">{titleOf(id, node)}</p>
    </div>
  );
}

function Words({ id, data: { node, problem, run }, idle }: { id: string; data: CardData; idle: boolean }) {
  const KindIcon = KIND_ICONS[node.kind];
  return (
    <>
      <div className="flex h-5 min-w-0 items-center gap-1.5 text-xs text-muted">
        <KindIcon width={14} height={14} className="shrink-0" />
        {/* Of half a word nobody has anything: the longest state leaves it to the icon. */}
        <span className="min-w-0 flex-1 truncate">
          {run?.state !== "waiting" && KIND_WORDS[node.kind].word}
        </span>
        {run && <NodeStateBadge run={run} />}
        {problem !== undefined && (
          <span className="flex items-center text-red" title={problem}>
            <WarningIcon width={14} height={14} />
          </span>
        )}
      </div>
      <p className={cx("truncate font-medium", idle && "text-muted")}>{titleOf(id, node)}</p>
      <div className="flex h-4 min-w-0 items-center justify-between gap-2 text-xs text-muted">
        <span className="min-w-0 truncate">{summaryOf(node)}</span>
        {run && <TimeAndCost run={run} />}
      </div>
    </>
  );
}

/**
 * Where edges end, for those who only look: the canvas measures elements of these classes, and a handle of its own each
 * would listen to every move of the view.
 */
function Dots({ kind }: { kind: Kind }) {
  return (
    <>
      <div
        className="react-flow__handle react-flow__handle-left target is-dot"
        data-handleid="in"
        data-handlepos="left"
      />
      {PORTS[kind].map((port) => {
        const { x, y } = placeOfPort(kind, port);
        const side = port === "failed" ? "bottom" : "right";
        return (
          <div
            key={port}
            style={port === "failed" ? { left: x } : { top: y }}
            className={`react-flow__handle react-flow__handle-${side} source is-dot`}
            data-handleid={port}
            data-handlepos={side}
          />
        );
      })}
    </>
  );
}

/** Ways in and out, to drag from and to; those that are not simply "then" have their word beside them. */
function Ports({ id, kind, selected }: { id: string; kind: Kind; selected: boolean }) {
  return (
    <>
      <Handle id="in" type="target" position={Side.Left} title={`into ${id}`} />
      {PORTS[kind].map((port) => {
        const { x, y } = placeOfPort(kind, port);
        const isFailed = port === "failed";
        return (
          <Fragment key={port}>
            <Handle
              id={port}
              type="source"
              position={isFailed ? Side.Bottom : Side.Right}
              style={isFailed ? { left: x } : { top: y }}
              title={`${PORT_WORDS[port]}: drag to what comes next`}
              className={`port-${port}`}
            />
            {port !== "out" && (
              <span
                aria-hidden="true"
                style={{ left: x + 10, top: isFailed ? y : y - 8 }}
                className={cx(
                  "pointer-events-none absolute rounded-sm bg-panel px-0.5 text-xs text-muted group-hover:visible",
                  !selected && "invisible",
                )}
              >
                {PORT_WORDS[port]}
              </span>
            )}
          </Fragment>
        );
      })}
    </>
  );
}
