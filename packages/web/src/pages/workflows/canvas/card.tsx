import { Handle, type NodeProps, Position as Side } from "@xyflow/react";
import { Fragment, memo } from "react";
import { cx } from "../../../ui/class-names.ts";
import { WarningIcon } from "../../../ui/icons.tsx";
import { PORT_WORDS, PORTS, titleOf } from "../draft/definition.ts";
import { KIND_WORDS, summaryOf } from "../draft/words.ts";
import type { CardNode } from "./flow.ts";
import { placeOfPort } from "./geometry.ts";
import { KIND_ICONS } from "./kind-icons.tsx";
import { NodeStateBadge, TimeAndCost } from "./node-state.tsx";

/** A node: what it is, what it is called, what it does; and in a run how it went. */
export const Card = memo(function Card({ id, data, selected, isConnectable }: NodeProps<CardNode>) {
  const { node, problem, run, inRun } = data;
  const KindIcon = KIND_ICONS[node.kind];
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
      <Handle id="in" type="target" position={Side.Left} isConnectable={isConnectable} title={`into ${id}`} />
      <div className="flex h-5 min-w-0 items-center gap-1.5 text-xs text-muted">
        <KindIcon width={14} height={14} className="shrink-0" />
        <span className="min-w-0 flex-1 truncate">{KIND_WORDS[node.kind].word}</span>
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
      {PORTS[node.kind].map((port) => {
        const { x, y } = placeOfPort(node.kind, port);
        return (
          <Fragment key={port}>
            <Handle
              id={port}
              type="source"
              position={port === "failed" ? Side.Bottom : Side.Right}
              isConnectable={isConnectable}
              style={port === "failed" ? { left: x } : { top: y }}
              title={`${PORT_WORDS[port]}: drag to what comes next`}
              className={`port-${port}`}
            />
            {isConnectable && port !== "out" && (
              <span
                aria-hidden="true"
                style={port === "failed" ? { left: x + 10, top: y } : { left: x + 10, top: y - 8 }}
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
    </div>
  );
});
