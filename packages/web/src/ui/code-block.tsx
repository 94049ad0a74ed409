import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef } from "react";
import { cx } from "./class-names.ts";
import { CopyButton } from "./copy-button.tsx";

export interface CodeBlockProps {
  code: string;
  /** What it is, for screen readers: "Arguments of deploy_service". */
  label?: string;
  /** Long lines wrap instead of scrolling sideways. */
  wrap?: boolean;
  className?: string;
}

/** From this many lines on only those in sight are in the page. The text is never cut. */
const MANY_LINES = 400;
const LINE_PX = 20;

export function CodeBlock({ code, label = "Code", wrap = false, className }: CodeBlockProps) {
  const lines = useMemo(() => code.split("\n"), [code]);
  return (
    <div className={cx("relative min-w-0 rounded-md border border-line bg-panel", className)}>
      <div className="absolute top-1 right-1 z-10 rounded-md bg-panel">
        <CopyButton text={code} label={`Copy ${label.toLowerCase()}`} />
      </div>
      {lines.length > MANY_LINES ? (
        <ManyLines lines={lines} label={label} />
      ) : (
        <figure
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable with the keyboard
          tabIndex={0}
          aria-label={label}
          className="max-h-[60vh] overflow-auto p-3 pr-10 font-mono text-sm"
        >
          <pre className={cx("font-mono", wrap ? "break-words whitespace-pre-wrap" : "whitespace-pre")}>
            {code}
          </pre>
        </figure>
      )}
    </div>
  );
}

function ManyLines({ lines, label }: { lines: readonly string[]; label: string }) {
  const frame = useRef<HTMLElement>(null);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => frame.current,
    estimateSize: () => LINE_PX,
    overscan: 20,
  });
  // The longest line gives the width, so that it does not change while scrolling.
  const widest = useMemo(() => Math.max(...lines.map((line) => line.length)), [lines]);
  return (
    <figure
      ref={frame}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable with the keyboard
      tabIndex={0}
      aria-label={`${label}, ${lines.length} lines`}
      className="h-[60vh] overflow-auto px-3 font-mono text-sm whitespace-pre"
    >
      <div style={{ height: virtual.getTotalSize(), width: `${widest}ch`, position: "relative" }}>
        {virtual.getVirtualItems().map((item) => (
          <div key={item.key} className="absolute left-0 h-5" style={{ top: item.start }}>
            {lines[item.index]}
          </div>
        ))}
      </div>
    </figure>
  );
}
