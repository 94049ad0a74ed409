import { Link, useNavigate } from "@tanstack/react-router";
import { ReactFlowProvider } from "@xyflow/react";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { client } from "../../../api.ts";
import { plural } from "../../../format/number.ts";
import { useKeys } from "../../../keys/use-keys.ts";
import { one, useSearchState } from "../../../search.ts";
import { useMay, WHO_MAY } from "../../../session.ts";
import { Button, IconButton } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { CloseIcon, StopIcon } from "../../../ui/icons.tsx";
import { JsonView } from "../../../ui/json-view.tsx";
import { QueryState } from "../../../ui/query-state.tsx";
import { RunStatusBadge } from "../../../ui/run-status.tsx";
import { ErrorState, Loading } from "../../../ui/states.tsx";
import { Duration, Time } from "../../../ui/time.tsx";
import { toast } from "../../../ui/toast.tsx";
import { Cost } from "../../runs/cost.tsx";
import type { RunDetail } from "../../runs/types.ts";
import { useRun } from "../../runs/use-run.ts";
import { useWide } from "../../runs/wide.ts";
import { isOver, shortId, storyOf } from "../../runs/words.ts";
import { Canvas, NOTHING } from "../canvas/canvas.tsx";
import { type Definition, titleOf } from "../draft/definition.ts";
import { placesOf } from "../draft/layout.ts";
import { neighbour } from "../draft/walking.ts";
import { useFlow } from "../editor/flow-control.ts";
import { NodeList } from "./node-list.tsx";
import { type NodeRuns, nodeRunsOf } from "./node-run.ts";
import { DecideLink, NodeRunPanel } from "./node-run-panel.tsx";

/** A run on the canvas of the definition it is pinned to, live until it is over. Nothing can be edited here. */
export function RunView({ name, id }: { name: string; id: string }) {
  const { run, events, log, version } = useRun(id);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the log grows in place, and its version tells
  const runs = useMemo(() => nodeRunsOf(log.events, id), [log, id, version]);
  // What it came to is said once, as its last word.
  const said = log.events.findLast((event) => event.type === "text" && event.run_id === id);
  const output = log.ended && said?.type === "text" ? said.text : undefined;
  return (
    <QueryState query={run} what={`Run ${shortId(id)}`} loading={<Loading shape="plot" />}>
      {(found) => {
        const definition = workflowOf(found);
        if (definition === undefined)
          return (
            <ErrorState
              what="This run is not of a workflow"
              why="It has no nodes to show."
              next={
                <Link to="/runs/$id" params={{ id }} className="text-accent underline">
                  Open the run
                </Link>
              }
            />
          );
        return (
          <ReactFlowProvider key={id}>
            <Shown {...{ name, run: found, definition, runs, output }} pending={events.data === undefined} />
          </ReactFlowProvider>
        );
      }}
    </QueryState>
  );
}

/** What a run of a workflow is pinned to stands where an agent's definition would. */
function workflowOf({ definition }: RunDetail): Definition | undefined {
  const workflow = definition?.["workflow"];
  return typeof workflow === "object" && workflow !== null ? (workflow as Definition) : undefined; // checked when it was saved
}

function Shown({
  name,
  run,
  definition,
  runs,
  output,
  pending,
}: {
  name: string;
  run: RunDetail;
  definition: Definition;
  runs: NodeRuns;
  output: string | undefined;
  pending: boolean;
}) {
  const [search, setSearch] = useSearchState();
  const wide = useWide();
  const flow = useFlow();
  const places = useMemo(() => placesOf(definition), [definition]);
  const scene = useMemo(
    () => ({ definition, places, problems: NO_PROBLEMS, runs }),
    [definition, places, runs],
  );
  const selected = one(search, "node");
  const node = selected === undefined ? undefined : definition.nodes[selected];
  const pick = (id: string | undefined) => setSearch({ node: id });
  const show = (id: string) => {
    pick(id);
    flow.select({ nodes: [id], edges: [] }, true);
  };
  // A link to a node shows it selected, as if somebody had just clicked it.
  const linked = useRef(selected);
  useEffect(() => {
    if (linked.current !== undefined) flow.select({ nodes: [linked.current], edges: [] }, false);
  }, [flow]);
  const leave = () => {
    pick(undefined);
    flow.select(NOTHING, false);
  };
  const walk = (direction: "left" | "right" | "up" | "down") => () => {
    const next = neighbour(definition, places, selected, direction);
    if (next !== undefined) show(next);
  };
  useKeys("Run on the canvas", [
    { keys: "arrowright", what: "Follow an edge", run: walk("right"), repeat: true },
    { keys: "arrowleft", what: "Follow an edge back", run: walk("left"), repeat: true },
    { keys: "arrowdown", what: "Node below", run: walk("down"), repeat: true },
    { keys: "arrowup", what: "Node above", run: walk("up"), repeat: true },
    { keys: "f", what: "Show all of it", run: () => flow.fit() },
    { keys: "+", what: "Look closer", run: () => flow.zoom(1.25), repeat: true },
    { keys: "-", what: "Look from further away", run: () => flow.zoom(0.8), repeat: true },
    { keys: "escape", what: "Select nothing", run: leave },
  ]);
  const canvas = (
    <Canvas
      scene={scene}
      label={`Run ${shortId(run.id)} of ${name}`}
      readOnly
      small={!wide}
      onSelect={({ nodes: [first] }) => {
        if (first !== undefined && first !== selected) pick(first);
      }}
      onMove={NOTHING_DONE}
      onConnect={NOTHING_DONE}
      onConnectToNew={NOTHING_DONE}
      onOpen={pick}
    />
  );
  const detail =
    node && selected ? (
      <NodeRunPanel
        id={selected}
        node={node}
        run={runs.get(selected)}
        runId={run.id}
        workflow={name}
        over={isOver(run)}
      />
    ) : (
      <RunSummary run={run} definition={definition} runs={runs} output={output} />
    );
  const close = node && <IconButton size="small" icon={CloseIcon} label="Back to the run" onClick={leave} />;
  const title = node && selected ? titleOf(selected, node) : `Run ${shortId(run.id)}`;
  if (!wide)
    return (
      <div className="flex min-h-0 flex-1 flex-col overflow-y-auto">
        <RunBar name={name} run={run} />
        <div ref={flow.frame} className="h-[26dvh] min-h-44 shrink-0 border-b border-line">
          {canvas}
        </div>
        {node && (
          <section aria-label={title} className="flex flex-col gap-3 border-b border-line p-4">
            <div className="flex items-center justify-between">
              <h2 className="min-w-0 truncate text-lg font-semibold">{title}</h2>
              {close}
            </div>
            {detail}
          </section>
        )}
        <NodeList definition={definition} runs={runs} selected={selected} onPick={show} />
        {!node && <div className="border-t border-line p-4">{detail}</div>}
      </div>
    );
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <RunBar name={name} run={run} />
      <div className="flex min-h-0 flex-1">
        <div ref={flow.frame} aria-busy={pending} className="relative min-w-0 flex-1">
          {canvas}
        </div>
        <aside aria-label={title} className="flex w-96 shrink-0 flex-col border-l border-line bg-canvas">
          <header className="flex min-h-11 shrink-0 items-center justify-between gap-2 border-b border-line px-4">
            <h2 className="min-w-0 truncate font-semibold">{title}</h2>
            {close}
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto px-4 py-3">{detail}</div>
          <NodeList
            definition={definition}
            runs={runs}
            selected={selected}
            onPick={show}
            className="max-h-[40%] shrink-0 overflow-y-auto border-t border-line"
          />
        </aside>
      </div>
    </div>
  );
}

const NO_PROBLEMS: ReadonlyMap<string, string> = new Map();
const NOTHING_DONE = () => {};

/** What happened, as a whole. */
function RunSummary({
  run,
  definition,
  runs,
  output,
}: {
  run: RunDetail;
  definition: Definition;
  runs: NodeRuns;
  output: string | undefined;
}) {
  const story = storyOf(run);
  const states = [...runs.values()].map(({ state }) => state);
  const asked = [...runs].flatMap(([id, { state, approvalId }]) =>
    state === "waiting" && approvalId !== undefined ? [{ id, approvalId }] : [],
  );
  const skipped = states.filter((state) => state === "skipped").length;
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <div>
        <p>
          {run.status === "completed"
            ? `${plural(states.length - skipped, "node")} ran${skipped > 0 ? `, ${skipped} skipped` : ""}.`
            : story.what}
        </p>
        {story.why && <p className="break-words text-muted">{story.why}</p>}
        {story.next && <p className="text-muted">{story.next}</p>}
      </div>
      {asked.map(({ id, approvalId }) => (
        <DecideLink key={id} id={approvalId} what={titleOf(id, definition.nodes[id])} />
      ))}
      {output !== undefined && (
        <section aria-label="Output" className="flex min-w-0 flex-col gap-1">
          <h3 className="font-medium">Output</h3>
          <JsonView value={parsed(output)} label="Output" />
        </section>
      )}
      <section aria-label="Input" className="flex min-w-0 flex-col gap-1">
        <h3 className="font-medium">Input</h3>
        <JsonView value={parsed(run.input)} label="Input" />
      </section>
    </div>
  );
}

function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** Which run this is, how it stands, and the ways on. */
function RunBar({ name, run }: { name: string; run: RunDetail }): ReactNode {
  const navigate = useNavigate();
  const may = useMay("operate");
  const [stopping, setStopping] = useState(false);
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-1.5 md:px-6">
      <RunStatusBadge status={run.status} />
      <span className="flex gap-3 text-sm text-muted">
        <Time at={run.created_at} className="min-w-0" />
        {run.ended_at === null ? (
          <Duration since={run.created_at} />
        ) : (
          <Duration ms={run.ended_at - run.created_at} />
        )}
      </span>
      <span className="text-sm text-muted">
        <Cost value={run.usage.cost} />
      </span>
      <Link to="/runs/$id" params={{ id: run.id }} className="text-sm text-accent underline">
        Timeline
      </Link>
      <div className="ml-auto flex items-center gap-2">
        {!isOver(run) && (
          <Button
            size="small"
            icon={StopIcon}
            disabled={!may}
            title={may ? undefined : `${WHO_MAY.operate} can`}
            onClick={() => setStopping(true)}
          >
            Stop
          </Button>
        )}
        <Button size="small" onClick={() => void navigate({ to: "/workflows/$name", params: { name } })}>
          Show the workflow
        </Button>
      </div>
      <Confirm
        open={stopping}
        onClose={() => setStopping(false)}
        title={`Stop run ${shortId(run.id)} of ${name}?`}
        description="It ends where it is, with everything below it. What was done stays done."
        action="Stop the run"
        danger
        onConfirm={async () => {
          await client.cancelRun({ params: { id: run.id }, body: {} });
          toast({ title: "The run is stopped" });
        }}
      />
    </div>
  );
}
