import { useParams } from "@tanstack/react-router";
import { one, useSearchState } from "../../search.ts";
import { cx } from "../../ui/class-names.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Page } from "../../ui/page.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { Loading } from "../../ui/states.tsx";
import { StatusBadge, Tag } from "../../ui/status-badge.tsx";
import { type Tab, Tabs } from "../../ui/tabs.tsx";
import { DefinitionTab } from "./definition-tab.tsx";
import { JsonTab } from "./json-tab.tsx";
import { NodesTab } from "./nodes-tab.tsx";
import { RequestsTab } from "./requests-tab.tsx";
import { RunActions } from "./run-actions.tsx";
import { RunHead } from "./run-head.tsx";
import { Timeline } from "./timeline.tsx";
import { TranscriptTab } from "./transcript-tab.tsx";
import type { RunDetail } from "./types.ts";
import { useGraph } from "./use-nodes.ts";
import { useRun } from "./use-run.ts";
import { useWide } from "./wide.ts";
import { STATUS_OF, shortId } from "./words.ts";

type TabName = "nodes" | "timeline" | "transcript" | "requests" | "definition" | "json";

/** A workflow talks to nobody and to no model itself: its nodes are what there is to read first. */
const TABS: Record<RunDetail["kind"], readonly TabName[]> = {
  agent: ["timeline", "transcript", "requests", "definition", "json"],
  workflow: ["nodes", "timeline", "definition", "json"],
};

/** What happened, and why did it stop? */
export function RunPage() {
  const { id = "" } = useParams({ strict: false });
  return <RunView key={id} id={id} />;
}

function RunView({ id }: { id: string }) {
  const shown = useRun(id);
  const wide = useWide();
  const run = shown.run.data;
  return (
    <Page
      title={run ? `${run.agent} ${shortId(id)}` : `Run ${shortId(id)}`}
      heading={<Heading id={id} run={run} />}
      actions={run && <Actions run={run} shown={shown} />}
      fill={wide}
    >
      <QueryState query={shown.run} what={`Run ${id}`} loading={<LoadingRun />}>
        {(loaded) => <RunBody run={loaded} shown={shown} wide={wide} />}
      </QueryState>
    </Page>
  );
}

function Actions({ run, shown: { log, version } }: { run: RunDetail; shown: ReturnType<typeof useRun> }) {
  return <RunActions run={run} log={log} graph={useGraph(run, log, version)} />;
}

function Heading({ id, run }: { id: string; run: RunDetail | undefined }) {
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
      {run && (
        <StatusBadge status={STATUS_OF[run.status]} {...(run.status === "queued" && { title: "Queued" })} />
      )}
      <span>{run?.agent ?? "Run"}</span>
      {run?.kind === "workflow" && (
        <span className="inline-flex font-normal">
          <Tag>Workflow</Tag>
        </span>
      )}
      <span className="inline-flex items-center gap-1 font-mono text-sm font-normal text-muted">
        <span title={id}>{shortId(id)}</span>
        <CopyButton text={id} label="Copy the run's id" />
      </span>
    </span>
  );
}

function RunBody({ run, shown, wide }: { run: RunDetail; shown: ReturnType<typeof useRun>; wide: boolean }) {
  const [search, setSearch] = useSearchState();
  const { log, version, events } = shown;
  const graph = useGraph(run, log, version);
  const names = TABS[run.kind];
  const [first = "timeline"] = names;
  const asked = one(search, "tab") ?? (one(search, "event") === undefined ? first : "timeline");
  const tab = names.find((name) => name === asked) ?? first;
  const scrolled = (content: React.ReactNode) => (
    <div className={cx("min-w-0 pb-6", wide && "h-full overflow-auto pr-1")}>{content}</div>
  );
  const loaded = (content: () => React.ReactNode) => (
    <QueryState query={events} what="Events">
      {content}
    </QueryState>
  );
  const all: Record<TabName, Omit<Tab<TabName>, "value">> = {
    nodes: { label: "Nodes", content: loaded(() => <NodesTab run={run} graph={graph} wide={wide} />) },
    timeline: {
      label: "Timeline",
      content: loaded(() => <Timeline run={run} log={log} version={version} graph={graph} wide={wide} />),
    },
    transcript: {
      label: "Transcript",
      content: loaded(() => <TranscriptTab run={run} log={log} version={version} wide={wide} />),
    },
    requests: { label: "Requests", content: scrolled(<RequestsTab run={run} />) },
    definition: { label: "Definition", content: scrolled(<DefinitionTab run={run} />) },
    json: { label: "JSON", content: scrolled(<JsonTab run={run} />) },
  };
  return (
    <>
      <RunHead run={run} log={log} version={version} graph={graph} />
      <Tabs
        aria-label="Views of the run"
        value={tab}
        onChange={(next) => {
          // A row that is open would lead back to the timeline.
          const closed = next === "nodes" ? { event: undefined } : {};
          setSearch({ tab: next === first ? undefined : next, ...closed }, { push: true });
        }}
        className={cx("mt-2 min-w-0", wide && "min-h-96 flex-1")}
        tabs={names.map((name) => ({ value: name, ...all[name] }))}
      />
    </>
  );
}

/** The shape of what comes: the story, the summary, the rows. */
function LoadingRun() {
  return (
    <>
      <div aria-hidden="true" className="mb-4 flex flex-col gap-2">
        <div className="skeleton h-5 w-72 max-w-full" />
        <div className="skeleton h-3 w-[36rem] max-w-full" />
      </div>
      <Loading />
    </>
  );
}
