import { HEIGHT, WIDTH } from "./canvas/geometry.ts";
import { type Definition, edgesOf } from "./draft/definition.ts";
import { placesOf } from "./draft/layout.ts";

/** A workflow in the size of a stamp: what leads to what. */
export function Sketch({ definition, className }: { definition: Definition; className?: string }) {
  const places = placesOf(definition);
  const all = Object.values(places);
  const left = Math.min(0, ...all.map(({ x }) => x));
  const top = Math.min(0, ...all.map(({ y }) => y));
  const right = Math.max(1, ...all.map(({ x }) => x + WIDTH));
  const bottom = Math.max(1, ...all.map(({ y }) => y + HEIGHT));
  return (
    <svg
      aria-hidden="true"
      viewBox={`${left - 16} ${top - 16} ${right - left + 32} ${bottom - top + 32}`}
      className={className}
      preserveAspectRatio="xMidYMid meet"
    >
      {edgesOf(definition).map(({ from, to, when }) => {
        const a = places[from];
        const b = places[to];
        if (a === undefined || b === undefined) return null;
        const [x1, y1, x2, y2] = [a.x + WIDTH, a.y + HEIGHT / 2, b.x, b.y + HEIGHT / 2];
        const bend = Math.max(24, (x2 - x1) / 2);
        return (
          <path
            key={`${from} ${when ?? ""} ${to}`}
            d={`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`}
            fill="none"
            stroke="var(--control)"
            strokeWidth="6"
          />
        );
      })}
      {Object.entries(definition.nodes).map(([id, { kind }]) => {
        const at = places[id];
        return (
          at && (
            <rect
              key={id}
              x={at.x}
              y={at.y}
              width={WIDTH}
              height={HEIGHT}
              rx={kind === "condition" ? HEIGHT / 2 : 14}
              fill={kind === "approval" ? "var(--accent-soft)" : "var(--sunken)"}
              stroke={kind === "approval" ? "var(--accent)" : "var(--control)"}
              strokeWidth="5"
            />
          )
        );
      })}
    </svg>
  );
}
