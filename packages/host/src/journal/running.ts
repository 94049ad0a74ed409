import type { AgentBinding, LogEntry, UserMessage } from "trackside";
import {
  type BoundAgent,
  bindAgent,
  type EngineParts,
  type LateOutcome,
  type Log,
  RunContext,
  type RunEvent,
  type RunRequest,
} from "trackside/engine";
import type { PinnedAgent } from "trackside/loop";
import type { Approvals } from "../approvals/approvals.ts";
import { RunDesk } from "../approvals/desk.ts";
import { StoredArtifacts } from "../artifacts/desk.ts";
import type { Bus } from "../bus/index.ts";
import type { Store } from "../store/store.ts";
import type { AgentRegistry } from "./agent-registry.ts";
import type { BranchLogs } from "./branch-logs.ts";
import type { Codec } from "./codec.ts";
import { StoredCounters } from "./counters.ts";
import { besideRow, type EndedRun } from "./end-run.ts";
import { boundaryOf } from "./inbox.ts";
import { StoredKeeper } from "./keeper.ts";
import type { Lease } from "./lease.ts";
import { recordAgain } from "./park.ts";
import type { OutcomeBody } from "./rows.ts";
import { RunHost } from "./run-host.ts";
import { type LoadedRun, loadRun, loopRows, messagesOf, planIn, usageIn } from "./run-records.ts";

/** A run as a process works on it: begun there, or taken up with what an earlier one left. */
export interface Running {
  readonly runId: string;
  readonly turnRef: string;
  readonly agent: AgentBinding;
  /** Of a child: the agent as its parent made it, where it is in the tree, and whose it is. */
  readonly child?: { readonly bound: BoundAgent; readonly path: readonly string[]; readonly root: string };
  readonly request: RunRequest;
  readonly user: UserMessage;
  readonly log: Log;
  readonly from: number;
  readonly conversationId: string;
  readonly branchId: string;
  readonly fence: number;
  readonly sink: ((event: RunEvent) => void) | undefined;
  /** The last event of each run of the tree that `sink` was given. */
  readonly shown?: ReadonlyMap<string, number> | undefined;
  readonly cancelled?: string | undefined;
  /** An earlier process left it in good order: its effects are begun again, but nothing died in them. */
  readonly wasLeft?: boolean;
  readonly loaded: (LoadedRun & { recorded: readonly { message: LogEntry; ord: number }[] }) | undefined;
}

/** A run that this process works on, for those who watch. */
export interface RunningFacts {
  readonly run_id: string;
  readonly agent: string;
  readonly model: string;
  readonly conversation_id: string;
  readonly tenant: string;
  readonly recovered: boolean;
  readonly traceparent?: string;
}

/** What an engine brings to its runs. */
export interface Surroundings {
  readonly options: {
    readonly observe?: (event: RunEvent) => void;
    readonly onRunning?: (run: RunningFacts) => void;
    readonly onLate?: (tenant: string, runId: string, late: LateOutcome) => void;
  };
  readonly store: Store;
  /** The store for runs under way: they wait where a caller is told. */
  readonly patient: Store;
  readonly approvals: Approvals;
  readonly parts: EngineParts;
  readonly bus: Bus;
  readonly codec: Codec;
  readonly lease: Lease;
  /** Everybody a turn may be handed to. */
  teamOf(agent: AgentBinding): ReadonlyMap<string, AgentBinding>;
}

/** Makes what a run consists of while it is under way. */
export function makeRun(
  around: Surroundings,
  given: Running,
): { run: RunContext; host: RunHost; desk: RunDesk; after: { readonly isFollowed: boolean } } {
  const { options, store, patient, approvals, bus, codec, parts } = around;
  const { runId, request, fence, loaded } = given;
  const bound = boundOf(around, given);
  const lost = loaded === undefined ? NO_LOST : lostEffects(loaded);
  const desk = new RunDesk(approvals, parts.clock, request.scope.tenant, loaded?.approvals ?? []);
  options.onRunning?.({
    run_id: runId,
    agent: bound.definition.name,
    model: bound.definition.model,
    conversation_id: given.conversationId,
    tenant: request.scope.tenant,
    recovered: loaded !== undefined,
    ...(loaded?.body.traceparent === undefined ? {} : { traceparent: loaded.body.traceparent }),
  });
  const run = makeContext(around, given, {
    bound,
    desk,
    lost: new Set(lost.keys()),
    outcomes: loaded?.outcomes ?? new Map(),
    resumed: loaded && resumedFrom(loaded),
  });
  const after = { isFollowed: false };
  const ended = endingOf(around, given, {
    deferred: () => host.deferred,
    followed: () => {
      after.isFollowed = true;
    },
  });
  const host = new RunHost(
    run,
    {
      store: patient,
      codec,
      beside: (row, artifacts, forgotten) => besideRow(ended, row, artifacts, forgotten),
      boundary: () => boundaryOf(store, run),
      again: async (key) => (given.wasLeft ? undefined : recordAgain(patient, { runId, fence }, key)),
      committed: (seq) => bus.publish(runId, { type: "committed", run_id: runId, seq }),
    },
    {
      fence,
      ord: (loaded?.commits.at(-1)?.ord ?? -1) + 1,
      seq: loaded?.commits.at(-1)?.seq ?? 0,
      rows: loaded === undefined ? [] : loopRows(loaded.commits),
      lost,
      deferred: loaded?.commits.some(({ body }) => body.deferred !== undefined) ?? false,
      savedAt: new Map(loaded?.recorded.map(({ message, ord }) => [message.id, ord]) ?? []),
    },
  );
  const stop = loaded?.row.cancel_reason ?? given.cancelled;
  if (stop) host.cancelRun(stop);
  if (loaded !== undefined) host.call(); // what was sent while nobody ran it is heard at its next step
  return { run, host, desk, after };
}

/** The agent a run is bound to, with everybody it may hand the turn to. */
export function boundOf(around: Pick<Surroundings, "teamOf">, given: Running): BoundAgent {
  return given.child?.bound ?? bindAgent(given.agent, { team: around.teamOf(given.agent) });
}

/** Where an earlier life of a run got to, for its context. */
export type Resumed = NonNullable<ConstructorParameters<typeof RunContext>[0]["resumed"]>;

/** What a context of a run needs beside the run. */
export interface ContextInit {
  readonly bound: BoundAgent;
  readonly desk: RunDesk;
  /** Effects that an earlier life may have begun, and what those had written down. */
  readonly lost: ReadonlySet<string>;
  readonly outcomes: ReadonlyMap<string, OutcomeBody>;
  readonly resumed: Resumed | undefined;
  /** Where effects are begun by one and begun again by others: which try this is. */
  readonly attempt?: number;
  readonly flights?: RunContext["flights"];
}

/** A run's context: what the effect handlers read and write. */
export function makeContext(around: Surroundings, given: Running, init: ContextInit): RunContext {
  const { options, patient, parts, bus, lease } = around;
  const { runId, request, fence, loaded } = given;
  const { scope } = request;
  const { bound, desk, resumed } = init;
  const { observe } = options;
  const now = () => parts.clock.now();
  const artifacts = new StoredArtifacts({
    store: patient,
    tenant: scope.tenant,
    conversationId: given.conversationId,
    runId,
    fence,
    now,
  });
  const services = {
    artifacts,
    late: (late: LateOutcome) => options.onLate?.(scope.tenant, runId, late),
    approvals: desk,
    counters: new StoredCounters(patient, given.child?.root ?? loaded?.row.root_run_id ?? runId),
    keeper: new StoredKeeper({
      store: patient,
      runId,
      fence,
      mayAct: init.attempt === undefined ? () => lease.mayAct() : YES,
      lost: init.lost,
      outcomes: init.outcomes,
      guarded: init.attempt !== undefined || listens(bound, "PRE_TOOL_CALL"),
      reviewed: listens(bound, "POST_TOOL_CALL") || listens(bound, "TOOL_ERROR"),
      ...(init.attempt === undefined ? {} : { attempt: init.attempt }),
      now,
      artifacts,
    }),
  };
  return new RunContext({
    id: runId,
    turnRef: given.turnRef,
    scope,
    agent: bound,
    log: given.log,
    parts,
    userMessage: given.user,
    approver: request.approver,
    toolServers: request.toolServers,
    ...(given.child === undefined ? {} : { path: given.child.path, root: given.child.root }),
    services,
    // Durable events are made only for those who were given them as they happen; others read the rows.
    sink:
      given.sink === undefined && observe === undefined
        ? undefined
        : (event) => {
            given.sink?.(event);
            observe?.(event);
          },
    live: (event) => {
      given.sink?.(event);
      bus.publish(runId, event);
    },
    ...(resumed === undefined ? {} : { resumed }),
    ...(init.flights === undefined ? {} : { flights: init.flights }),
  });
}

const YES = () => true;

/** What a run's rows mean for other tables. */
export function endingOf(
  { codec, parts: { clock } }: Surroundings,
  given: Running,
  rest: Pick<EndedRun, "deferred" | "followed">,
): EndedRun {
  const { runId, request, conversationId, branchId, fence, user, from, log } = given;
  return {
    runId,
    tenant: request.scope.tenant,
    conversationId,
    branchId,
    fence,
    scope: request.scope,
    user,
    from,
    path: given.child?.path,
    codec,
    clock,
    length: () => log.messages.length,
    ...rest,
  };
}

function resumedFrom({ commits, recorded }: NonNullable<Running["loaded"]>): Resumed {
  return {
    seq: commits.at(-1)?.seq ?? 0,
    recorded: recorded.map(({ message }) => message),
    aside: commits.flatMap(({ body }) =>
      body.notes.flatMap((note) => (note.type === "aside" ? note.message_ids : [])),
    ),
    plan: planIn(commits),
    usage: usageIn(commits),
  };
}

/** Loads a run that an earlier process left. Answers why it cannot go on where the code it needs is gone. */
export async function loadRunning(
  from: {
    readonly store: Store;
    readonly codec: Codec;
    readonly registry: AgentRegistry;
    readonly logs: BranchLogs;
  },
  runId: string,
): Promise<Running | { problem: string; loaded: LoadedRun } | undefined> {
  const { store, codec, registry } = from;
  const loaded = await store.read((db) => loadRun(db, runId, codec));
  if (loaded === undefined || loaded.row.ended_at !== null) return undefined;
  const { row } = loaded;
  const agent = registry.bind(row.agent, loaded, row.definition_digest, { isStored: row.agent_id !== null });
  if ("problem" in agent) return { problem: agent.problem, loaded };
  return runningOf(from, loaded, agent.binding);
}

/** A run as an earlier process left it, with the agent it goes on with. */
export async function runningOf(
  { store, codec, logs }: { readonly store: Store; readonly codec: Codec; readonly logs: BranchLogs },
  loaded: LoadedRun,
  agent: AgentBinding,
): Promise<Running> {
  const { row, body } = loaded;
  const runId = row.id;
  const messages = await store.read((db) => messagesOf(db, loaded.commits, codec));
  const log = await logs.take(row.branch_id, body.from, runId);
  const logged = loaded.commits.flatMap(({ body: commit }) =>
    commit.notes.flatMap((note) => (note.type === "logged" ? note.message_ids : [])),
  );
  for (const id of logged) {
    const message = messages.get(id)?.message ?? (id === loaded.user.id ? loaded.user : undefined);
    if (message !== undefined) log.append(message);
  }
  const inLog = new Set(logged);
  return {
    runId,
    turnRef: row.turn_ref,
    agent,
    request: {
      parts: loaded.user.parts,
      conversation: undefined,
      requestId: undefined,
      scope: loaded.scope,
      signal: undefined,
      approver: "host",
      clientTools: [], // the agent has them already
    },
    user: loaded.user,
    log,
    from: body.from,
    conversationId: row.conversation_id,
    branchId: row.branch_id,
    fence: row.fence,
    sink: undefined,
    loaded: {
      ...loaded,
      recorded: [...messages.values()].filter(({ message }) => !inLog.has(message.id)),
    },
  };
}

/** Whether it has rails on a point, or somebody has it may hand the turn to. */
function listens({ pinned }: BoundAgent, point: PinnedAgent["points"][number]): boolean {
  return [pinned, ...Object.values(pinned.team)].some(({ points }) => points.includes(point));
}

const NO_LOST: ReadonlyMap<string, number> = new Map();

/** Effects that had been begun and not delivered, and when they were begun. */
export function lostEffects({ commits }: LoadedRun): ReadonlyMap<string, number> {
  const lost = new Map<string, number>();
  for (const { body } of commits) {
    lost.delete(body.key);
    for (const key of body.begun) lost.set(key, body.at);
  }
  return lost;
}
