import { BaseEdge, type EdgeProps, getBezierPath } from "@xyflow/react";
import { memo } from "react";
import type { WayEdge } from "./flow.ts";

/** What comes after what; the word on it says when, where it is not simply "then". */
export const Way = memo(function Way(props: EdgeProps<WayEdge>) {
  const { id, sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition, label, markerEnd } = props;
  const [path, labelX, labelY] = getBezierPath({
    sourceX,
    sourceY,
    targetX,
    targetY,
    sourcePosition,
    targetPosition,
  });
  return (
    <BaseEdge
      id={id}
      path={path}
      interactionWidth={16}
      {...(markerEnd !== undefined && { markerEnd })}
      {...(label !== undefined && {
        label,
        labelX,
        labelY,
        labelBgPadding: [4, 2] as [number, number],
        labelBgBorderRadius: 4,
      })}
    />
  );
});
