import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef } from "react";
import { formatDuration } from "../../format/duration.ts";
import { useSearchState } from "../../search.ts";
import { cx } from "../../ui/class-names.ts";
import { ToolIcon } from "../../ui/icons.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Time } from "../../ui/time.tsx";
import type { RunLog } from "./run-log.ts";
import { type TranscriptItem, transcriptOf } from "./transcript.ts";
import type { RunDetail } from "./types.ts";

/** What was said and done, as people read it. */
export function TranscriptTab(props: { run: RunDetail; log: RunLog; version: number; wide: boolean }) {
  const { run, log, version, wide } = props;
  const frame = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: events are added in place, and the version says when
  const items = useMemo(() => transcriptOf(log.events, run.id), [log, version, run.id]);
  const live = log.live;
  const count = items.length + 1 + (live ? 1 : 0);
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => frame.current,
    estimateSize: () => 72,
    overscan: 8,
    getItemKey: (at) => (at === 0 ? "asked" : (items[at - 1]?.id ?? "live")),
  });
  return (
    <section
      ref={frame}
      aria-label="Transcript"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable with the keyboard
      tabIndex={0}
      className={cx("overflow-y-auto -outline-offset-2", wide ? "h-full" : "h-[75dvh]")}
    >
      <div className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const item = items[index - 1];
          return (
            <div
              key={key}
              data-index={index}
              ref={virtual.measureElement}
              className="absolute inset-x-0 top-0 pb-3"
              style={{ transform: `translateY(${start}px)` }}
            >
              {index === 0 ? (
                <Said who="Asked" at={run.created_at}>
                  <p className="measure break-words whitespace-pre-wrap">{run.input}</p>
                </Said>
              ) : item ? (
                <Item item={item} agent={run.agent} />
              ) : (
                live && (
                  <Said who={`${run.agent}, right now`}>
                    {live.reasoning && (
                      <p className="measure text-muted whitespace-pre-wrap">{live.reasoning}</p>
                    )}
                    <p className="measure break-words whitespace-pre-wrap">{live.text}</p>
                  </Said>
                )
              )}
            </div>
          );
        })}
      </div>
    </section>
  );
}

function Said({
  who,
  at,
  children,
  faded,
}: {
  who: string;
  at?: number;
  children: React.ReactNode;
  faded?: boolean;
}) {
  return (
    <div className={cx("rounded-md border border-line px-3 py-2", faded && "border-dashed bg-panel")}>
      <p className="mb-1 flex items-baseline gap-2 text-xs text-muted">
        <span className="font-medium">{who}</span>
        {at !== undefined && <Time at={at} />}
      </p>
      {children}
    </div>
  );
}

function Item({ item, agent }: { item: TranscriptItem; agent: string }) {
  switch (item.kind) {
    case "said":
      return (
        <Said
          who={item.retracted === undefined ? agent : `${agent}, taken back: ${item.retracted}`}
          at={item.at}
          faded={item.retracted !== undefined}
        >
          <Markdown text={item.text} />
          {item.partial && <p className="mt-1 text-sm text-amber">It was cut off here.</p>}
        </Said>
      );
    case "thought":
      return (
        <details className="px-3 text-sm text-muted">
          <summary className="font-medium hover:text-ink">Reasoning</summary>
          <div className="mt-1">
            <Markdown text={item.text} />
          </div>
        </details>
      );
    case "call":
      return <Call item={item} />;
    case "injected":
      return (
        <Said
          who={item.event.source === "user" ? "Said while it ran" : `Injected by ${item.event.source}`}
          at={item.at}
        >
          <p className="measure break-words whitespace-pre-wrap">
            {item.event.parts
              ?.map((part) => (part.type === "text" ? part.text : `[${part.media_type}]`))
              .join("\n") ?? `Not kept: ${item.event.tokens} tokens.`}
          </p>
        </Said>
      );
    case "mark":
      return <p className="measure px-3 text-sm whitespace-pre-wrap text-muted">{item.text}</p>;
  }
}

function Call({ item }: { item: Extract<TranscriptItem, { kind: "call" }> }) {
  const [, setSearch] = useSearchState();
  const { call, result } = item;
  const state =
    result === undefined
      ? "under way"
      : `${result.metadata.status}${result.duration_ms > 0 ? `, ${formatDuration(result.duration_ms)}` : ""}`;
  return (
    <button
      type="button"
      onClick={() => setSearch({ tab: undefined, event: item.id }, { push: true })}
      className="flex min-h-9 w-full min-w-0 items-center gap-2 rounded-md border border-line bg-panel px-3 py-1 text-left hover:bg-sunken"
    >
      <ToolIcon width={14} height={14} className="text-muted" />
      <span className="shrink-0 font-mono text-sm">{call.tool}</span>
      <span className="min-w-0 flex-1 truncate font-mono text-xs text-muted">
        {JSON.stringify(call.arguments)}
      </span>
      <span className={cx("shrink-0 text-sm", result && !result.success ? "text-red" : "text-muted")}>
        {state}
      </span>
    </button>
  );
}
