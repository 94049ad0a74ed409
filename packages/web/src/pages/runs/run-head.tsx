import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { plural } from "../../format/number.ts";
import { cx } from "../../ui/class-names.ts";
import { ChevronRightIcon, WarningIcon } from "../../ui/icons.tsx";
import { Tokens } from "../../ui/numbers.tsx";
import { Countdown, Duration, Time } from "../../ui/time.tsx";
import { Cost } from "./cost.tsx";
import { CanvasLink } from "./definition-tab.tsx";
import { placeIn } from "./nodes.ts";
import { doneOf, nodesStory } from "./nodes-story.ts";
import type { RunLog } from "./run-log.ts";
import type { EventOf, RunDetail, Usage } from "./types.ts";
import type { Graph } from "./use-nodes.ts";
import { isOver, recoveriesOf, shortId, storyOf } from "./words.ts";
import { WorkflowVersion } from "./workflow-version.tsx";

interface RunHeadProps {
  readonly run: RunDetail;
  readonly log: RunLog;
  readonly version: number;
  /** Of a workflow's run. */
  readonly graph: Graph | undefined;
}

/** Above the fold: what happened, why it stopped, and what it took. */
export function RunHead({ run, log, version, graph }: RunHeadProps) {
  const isWorkflow = run.kind === "workflow";
  const story = graph ? nodesStory(run, graph.nodes) : (nowOf(run, log) ?? storyOf(run));
  const answer = run.status === "completed" ? answerOf(run, log) : undefined;
  return (
    <div className="flex flex-col gap-3">
      <div className={cx("rounded-md border-l-2 py-1 pl-3", EDGES[run.status])}>
        <p className="text-lg font-medium">{story.what}</p>
        {story.why && (
          <p className="measure max-h-30 overflow-y-auto break-words whitespace-pre-wrap text-ink">
            {story.why}
          </p>
        )}
        {story.next && <p className="text-muted">{story.next}</p>}
        <Waiting run={run} log={log} graph={graph} />
        {graph && run.status === "error" && <FailedNodes graph={graph} />}
        <Quoted what={isWorkflow ? "Input" : "Asked"} text={run.input} />
        {answer && <Quoted what={isWorkflow ? "Output" : "Answered"} text={answer} />}
      </div>
      <Recoveries run={run} log={log} version={version} />
      <Summary run={run} graph={graph} usage={usageOf(run, log)} steps={stepsOf(run, log)} />
    </div>
  );
}

/** Of a run under way: where it is. */
function nowOf(run: RunDetail, log: RunLog): { what: string; why?: string; next?: string } | undefined {
  if (run.status !== "running" || run.cancel_reason !== null) return undefined;
  const last = log.waterfall.roots.at(-1);
  if (last?.kind === "planner") return { what: "It plans." };
  if (last?.kind !== "step" || last.end !== null) return undefined;
  const tools = last.children.filter(({ kind, end }) => kind === "tool" && end === null);
  const doing = tools.length > 0 ? tools.map(({ title }) => title).join(", ") : "the model answers";
  return { what: `${last.title}: ${doing}.` };
}

const EDGES: Record<RunDetail["status"], string> = {
  queued: "border-blue",
  running: "border-blue",
  waiting: "border-amber",
  parked: "border-amber",
  completed: "border-green",
  error: "border-red",
  cancelled: "border-control",
};

/** What it waits for, each with the way to decide it. Sized for a thumb. */
function Waiting({ run, log, graph }: Pick<RunHeadProps, "run" | "log" | "graph">) {
  if (run.pending_approvals.length === 0 || isOver(run)) return null;
  const known = new Map<string, EventOf<"approval">>();
  for (const event of log.events) if (event.type === "approval") known.set(event.approval_id, event);
  return (
    <ul className="mt-2 flex flex-col gap-2">
      {run.pending_approvals.map((id) => {
        const event = known.get(id);
        const { what, why } = askedOf(event, graph);
        return (
          <li key={id}>
            <Link
              to="/inbox/$id"
              params={{ id }}
              className="flex min-h-9 w-full max-w-120 items-center gap-3 rounded-md border border-amber bg-amber-soft px-3 py-1 coarse:min-h-12"
            >
              <span className="min-w-0 flex-1">
                <span className="block truncate font-medium">{what}</span>
                <span className="block truncate text-sm text-muted empty:hidden">{why}</span>
              </span>
              {event?.deadline != null && <Countdown until={event.deadline} over="timed out" />}
              <ChevronRightIcon />
            </Link>
          </li>
        );
      })}
    </ul>
  );
}

/** A node asks in words of its own; what asks about a tool is told by its name. */
function askedOf(
  event: EventOf<"approval"> | undefined,
  graph: Graph | undefined,
): { what: string; why: string } {
  if (event?.kind === "workflow_node") {
    const node = graph?.nodes.find(({ id }) => id === event.tool);
    const title = node?.title ?? event.tool ?? "";
    if (node?.kind === "wait")
      return { what: `Send what ${title} waits for`, why: "To its address, or by hand in the inbox" };
    return { what: event.reasons[0] ?? "Decide what it asks", why: `Asked by the node ${title}` };
  }
  return { what: `Decide ${event?.tool ?? "what it asks"}`, why: event?.reasons.join("; ") ?? "" };
}

/** What the run failed of, each with the way to it. */
function FailedNodes({ graph }: { graph: Graph }) {
  const failed = graph.nodes.filter(({ state, isHandled }) => state === "failed" && !isHandled);
  return (
    <p className="flex flex-wrap gap-x-3">
      {failed.slice(0, 10).map(({ id, title }) => (
        <Link
          key={id}
          to="."
          search={((before: object) => ({ ...before, tab: undefined, event: undefined, node: id })) as never} // every route has plain searches
          className="text-accent underline coarse:py-2"
        >
          Show {title}
        </Link>
      ))}
    </p>
  );
}

const LONG = 120;

/** The last thing it said itself. */
function answerOf(run: RunDetail, log: RunLog): string | undefined {
  const last = log.events.findLast(
    ({ type, run_id, path }) => type === "text" && run_id === run.id && path.at(-1) !== "planner",
  );
  return last?.type === "text" ? last.text : undefined;
}

/** What somebody said. Long ones unfold in place. */
function Quoted({ what, text }: { what: string; text: string }) {
  const [open, setOpen] = useState(false);
  if (text.trim() === "") return null;
  const long = text.length > LONG || text.includes("\n");
  return (
    <div className="mt-1 flex min-w-0 items-baseline gap-2 text-muted">
      <span className="w-16 shrink-0 text-xs">{what}</span>
      <p
        className={cx(
          "measure min-w-0 break-words text-ink",
          open ? "max-h-60 overflow-y-auto whitespace-pre-wrap" : "line-clamp-2",
        )}
      >
        {text}
      </p>
      {long && (
        <button
          type="button"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className="shrink-0 text-sm text-accent hover:underline"
        >
          {open ? "Less" : "All of it"}
        </button>
      )}
    </div>
  );
}

/** A process that died under the run, and what was begun again. */
function Recoveries({ run, log, version }: { run: RunDetail; log: RunLog; version: number }) {
  const found = recoveriesOf(run);
  const retracted = countRetracted(log, version);
  if (found.length === 0 && retracted === 0) return null;
  const times = found.reduce((sum, one) => sum + one.times, 0);
  return (
    <div className="flex items-start gap-2 text-sm">
      <WarningIcon className="mt-0.5 text-amber" />
      <div className="min-w-0">
        {times > 0 && (
          <p>
            Its process died and the run was taken up again, {plural(times, "time")}:{" "}
            {found.map(({ effect, times: n }, at) => (
              <span key={effect}>
                {at > 0 && ", "}
                <code className="font-mono text-xs break-all">{effect}</code>
                {n > 1 && ` ${n}×`}
              </span>
            ))}
          </p>
        )}
        {retracted > 0 && (
          <p className="text-muted">{plural(retracted, "attempt")} taken back: the timeline says why.</p>
        )}
      </div>
    </div>
  );
}

const counts = new WeakMap<RunLog, { version: number; count: number }>();

function countRetracted(log: RunLog, version: number): number {
  const known = counts.get(log);
  if (known?.version === version) return known.count;
  const count = log.events.reduce((sum, { type }) => (type === "message_retracted" ? sum + 1 : sum), 0);
  counts.set(log, { version, count });
  return count;
}

/** What it used so far: of a run under way its last event knows more than its record. */
function usageOf(run: RunDetail, log: RunLog): Usage {
  if (isOver(run)) return run.usage;
  const last = log.events.findLast((event) => event.type === "usage" && event.run_id === run.id);
  return last?.type === "usage" ? last.total : run.usage;
}

function stepsOf(run: RunDetail, log: RunLog): number {
  if (isOver(run)) return run.steps;
  return log.waterfall.roots.findLast(({ kind }) => kind === "step")?.step ?? run.steps;
}

interface SummaryProps extends Pick<RunHeadProps, "run" | "graph"> {
  readonly usage: Usage;
  readonly steps: number;
}

function Summary({ run, graph, usage, steps }: SummaryProps) {
  const link = "text-accent hover:underline";
  const isWorkflow = run.kind === "workflow";
  const facts: [string, ReactNode][] = [
    isWorkflow
      ? [
          "Workflow",
          <Link key="a" to="/workflows/$name" params={{ name: run.agent }} className={link}>
            {run.agent}
          </Link>,
        ]
      : [
          "Agent",
          <Link key="a" to="/agents/$name" params={{ name: run.agent }} className={link}>
            {run.agent}
          </Link>,
        ],
    [
      "Definition",
      <Link
        key="d"
        to="."
        search={((before: object) => ({ ...before, tab: "definition" })) as never} // every route has plain searches
        className={cx(link, "font-mono text-sm")}
        title={run.definition_digest ?? undefined}
      >
        {run.definition_digest?.slice(0, 8) ?? "none"}
      </Link>,
    ],
    isWorkflow
      ? [
          "Version",
          <span key="c">
            <WorkflowVersion run={run} />{" "}
            <CanvasLink run={run} className={link}>
              Open on canvas
            </CanvasLink>
          </span>,
        ]
      : [
          "Conversation",
          <Link
            key="c"
            to="/playground/$agent"
            params={{ agent: run.agent }}
            search={{ conversation: run.conversation_id } as never} // as above
            className={cx(link, "font-mono text-sm")}
            title={run.conversation_id}
          >
            {shortId(run.conversation_id)}
          </Link>,
        ],
    ["Started", <Time key="s" at={run.created_at} />],
    [
      "Duration",
      run.ended_at === null ? (
        <Duration key="l" since={run.created_at} />
      ) : (
        <Duration key="l" ms={run.ended_at - run.created_at} />
      ),
    ],
    isWorkflow ? ["Nodes", graph ? doneOf(graph.nodes) : "not known"] : ["Steps", String(steps)],
    ["Model calls", String(usage.model_calls)],
    [
      "Tokens",
      <span key="t">
        <Tokens value={usage.input_tokens} unit={false} /> in
        {usage.cached_input_tokens > 0 && (
          <>
            {" ("}
            <Tokens value={usage.cached_input_tokens} unit={false} /> cached)
          </>
        )}
        , <Tokens value={usage.output_tokens} unit={false} /> out
      </span>,
    ],
    ["Cost", <Cost key="m" value={usage.cost} />],
  ];
  if (run.parent_run_id !== null) facts.push(partOf(run, run.parent_run_id));
  if (run.retried_from !== null) facts.push(["Retried from", <RunLink key="r" id={run.retried_from} />]);
  if (run.sub_agents.length > 0)
    facts.push([isWorkflow ? "Runs below" : "Sub-agents", countOf(run.sub_agents.length)]);
  return (
    <dl className="grid grid-cols-2 gap-x-4 gap-y-2 text-sm md:flex md:flex-wrap md:gap-x-6">
      {facts.map(([name, value]) => (
        <div key={name} className="min-w-0">
          <dt className="text-xs text-muted">{name}</dt>
          <dd className="truncate tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The API lists so many at most. */
const MOST_BELOW = 1_000;
const countOf = (count: number) => (count >= MOST_BELOW ? `${MOST_BELOW} or more` : String(count));

/** What the run is in: a node of a workflow, or an agent that spawned it. */
function partOf({ id }: RunDetail, parentId: string): [string, ReactNode] {
  const place = placeIn(id, parentId);
  if (place === undefined) return ["Sub-agent of", <RunLink key="p" id={parentId} />];
  const { node, attempt, item, part } = place;
  const which = [
    item === undefined ? "" : `, item ${item}`,
    part === undefined ? "" : `, items from ${part * 100}`,
    attempt > 1 ? `, try ${attempt}` : "",
  ].join("");
  return [
    "Node",
    <span key="p">
      <Link
        to="/runs/$id"
        params={{ id: parentId }}
        search={{ node } as never} // every route has plain searches
        className="text-accent hover:underline"
      >
        {node}
      </Link>
      {which} of <RunLink id={parentId} />
    </span>,
  ];
}

export function RunLink({ id, children }: { id: string; children?: ReactNode }) {
  return (
    <Link to="/runs/$id" params={{ id }} title={id} className="font-mono text-sm text-accent hover:underline">
      {children ?? shortId(id)}
    </Link>
  );
}
