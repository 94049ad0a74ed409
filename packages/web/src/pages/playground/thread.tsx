import {
  type UseQueryResult,
  useMutation,
  useQueries,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useRef } from "react";
import type { Message, UserPart } from "trackside/schema";
import { client, explain } from "../../api.ts";
import { useKeys } from "../../keys/use-keys.ts";
import { useMay, WHO_MAY } from "../../session.ts";
import { Button } from "../../ui/button.tsx";
import { ArrowDownIcon, PlaygroundIcon, WarningIcon } from "../../ui/icons.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { Loading } from "../../ui/states.tsx";
import { toast } from "../../ui/toast.tsx";
import { Composer } from "./composer.tsx";
import {
  type Branch,
  type Conversation,
  messagesQuery,
  runsQuery,
  useConversationCache,
} from "./conversation.ts";
import { knownTree, treeQuery, useLiveTree } from "./run-tree.ts";
import { Said } from "./said.tsx";
import { type Busy, type Steered, useSending } from "./sending.ts";
import { suggestionsFor } from "./suggestions.ts";
import { isOver, openQuestions, type RunView, rootOf, type Tree } from "./transcript.ts";
import { TurnView } from "./turn-view.tsx";
import { branchPointsOf, type Turn, turnsOf } from "./turns.ts";
import { useStick } from "./use-stick.ts";

/** So many runs are shown with everything they did; what is older is shown as the log has it. */
const SHOWN_WHOLE = 12;
const NOTHING: readonly Message[] = [];

export interface ThreadProps {
  agent: string;
  conversation: Conversation | undefined;
  branch: Branch | undefined;
  /** Undefined for a conversation that has yet to begin. */
  query: UseQueryResult<Conversation> | undefined;
  /** Words to begin with, from a link. They are never sent by themselves. */
  say: string | undefined;
  onRun(run: RunView | undefined): void;
  onGo(where: { conversation?: string; branch?: string | undefined }): void;
}

/** What was said and done, and where one says the next thing. */
export function Thread({ agent, conversation, branch, query, say, onRun, onGo }: ThreadProps) {
  const queryClient = useQueryClient();
  const cache = useConversationCache();
  const mayOperate = useMay("operate");
  const messages = useQuery({ ...messagesQuery(branch?.id ?? ""), enabled: branch !== undefined });
  const runs = useQuery({ ...runsQuery(conversation?.id ?? ""), enabled: conversation !== undefined });

  const isKnownOver = (id: string) => {
    const known = knownTree(queryClient, id);
    return known !== undefined && isOver(rootOf(known));
  };
  const given = branch?.active_run_id ?? undefined;
  const activeRun = given === undefined || isKnownOver(given) ? undefined : given;
  const live = useLiveTree(activeRun, () => {
    if (conversation && branch) void cache.changed(conversation.id, branch.id);
  });
  const isRunning = activeRun !== undefined;

  // A run that began or ended elsewhere is known by the branch: what was said is asked for again.
  const [conversationId, branchId] = [conversation?.id, branch?.id];
  const lastActive = useRef(given);
  useEffect(() => {
    if (lastActive.current === given) return;
    lastActive.current = given;
    if (conversationId && branchId) void cache.changed(conversationId, branchId);
  });

  const log = branch ? messages.data?.items : undefined;
  const turns = useMemo(
    () => (branchId === undefined ? [] : turnsOf(log ?? NOTHING, runs.data?.items ?? [], branchId)),
    [log, runs.data, branchId],
  );
  // A page that was opened while a run began knows its first words a moment later.
  const step = live ? rootOf(live).step : 0;
  const lacksUser = isRunning && log?.every(({ id }) => !id.startsWith(activeRun));
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked again at each step, not at each render
  useEffect(() => {
    if (lacksUser && branchId && step > 0)
      void queryClient.invalidateQueries({ queryKey: messagesQuery(branchId).queryKey });
  }, [lacksUser, branchId, step]);
  const points = useMemo(() => branchPointsOf(log ?? NOTHING), [log]);
  const begunAt = useMemo(
    () => new Map(runs.data?.items.map(({ id, created_at }) => [id, created_at])),
    [runs.data],
  );
  const whole = turns.filter(({ runId, isWhole }) => isWhole && runId !== null && runId !== activeRun);
  const recent = whole.slice(-SHOWN_WHOLE).flatMap(({ runId }) => (runId === null ? [] : [runId]));
  const trees = useQueries({ queries: recent.map(treeQuery) });
  const treeOf = (turn: Turn): Tree | undefined => {
    if (turn.runId === null) return undefined;
    if (turn.runId === activeRun) return live;
    return trees[recent.indexOf(turn.runId)]?.data;
  };
  const isLoading =
    query !== undefined && (!branch || !log || !runs.data || trees.some((tree) => tree.isPending));

  const lastTurn = turns.at(-1);
  const lastTree = live ?? (lastTurn && treeOf(lastTurn));
  const shownRun = lastTree && rootOf(lastTree);
  useEffect(() => onRun(shownRun), [shownRun, onRun]);

  // The box in which a conversation was begun stays, with its focus; another conversation gets another one.
  const composer = useRef({ key: conversationId ?? "new", begun: "" });
  if (conversationId !== composer.current.begun) composer.current.key = conversationId ?? "new";
  const { send, isSending, steered, busy, forgetBusy } = useSending({
    agent,
    conversation,
    branch,
    activeRun,
    live,
    onGo: (where) => {
      composer.current.begun = where.conversation;
      onGo(where);
    },
  });
  const stop = useMutation({
    mutationFn: (id: string) => client.cancelRun({ params: { id }, body: {} }),
    onError: (error) => toast({ kind: "problem", title: "Not stopped", detail: explain(error) }),
  });
  const stopRun = () => activeRun !== undefined && !stop.isPending && stop.mutate(activeRun);
  useKeys("The run under way", [
    {
      keys: "escape",
      what: "Stop the run",
      run: stopRun,
      whileTyping: true,
      enabled: isRunning && mayOperate,
    },
  ]);

  const go = useRef(onGo);
  useEffect(() => {
    go.current = onGo;
  });
  const branchFrom = useMutation({
    mutationFn: ({ from, at }: { from: string; at: string }) =>
      client.createBranch({ params: { id: from }, body: { at } }),
    onSuccess: async ({ id }) => {
      await queryClient.invalidateQueries({ queryKey: ["playground", "conversation"] });
      go.current({ branch: id });
    },
    onError: (error) => toast({ kind: "problem", title: "No branch was made", detail: explain(error) }),
  });
  const { mutate: makeBranch } = branchFrom;
  const onBranch = useCallback(
    (at: string) => branchId !== undefined && makeBranch({ from: branchId, at }),
    [branchId, makeBranch],
  );
  const onRetried = useCallback(
    async (next: string) => {
      await queryClient.invalidateQueries({ queryKey: ["playground", "conversation"] });
      void queryClient.invalidateQueries({ queryKey: ["playground", "runs"] });
      go.current({ branch: next });
    },
    [queryClient],
  );

  const { frame, content, isAtEnd, onScroll, jump } = useStick(branchId ?? "new");
  const isEmpty = !isLoading && turns.length === 0 && !isSending;
  const aside = lastTree ? rootOf(lastTree).plannerAsks.filter(({ state }) => state === "pending") : [];
  return (
    <section aria-label={`Conversation with ${agent}`} className="flex min-h-0 min-w-0 flex-1 flex-col">
      <p aria-live="polite" className="sr-only">
        {lastTree ? announcement(lastTree, agent) : ""}
      </p>
      <div className="relative min-h-0 flex-1">
        <div
          ref={frame}
          onScroll={onScroll}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable with the keyboard
          tabIndex={0}
          role="log"
          aria-live="off"
          aria-label="Transcript"
          className="absolute inset-0 overflow-y-auto px-4 -outline-offset-2"
        >
          <div ref={content} className="mx-auto max-w-180">
            {query?.error && !conversation ? (
              <QueryState query={query} what="Conversation">
                {() => null}
              </QueryState>
            ) : isLoading ? (
              <div className="py-6">
                <Loading shape="lines" count={9} />
              </div>
            ) : isEmpty ? (
              <Beginning
                agent={agent}
                disabled={!mayOperate}
                onSay={(text) => void send([{ type: "text", text }])}
              />
            ) : (
              turns.map((turn) => (
                <TurnView
                  key={turn.key}
                  turn={turn}
                  tree={treeOf(turn)}
                  at={begunAt.get(turn.runId ?? "")}
                  points={points}
                  onBranch={onBranch}
                  onRetried={onRetried}
                  isLast={turn === lastTurn}
                />
              ))
            )}
            <Underway steered={steered} />
          </div>
        </div>
        {!isAtEnd && (
          <div className="pointer-events-none absolute inset-x-0 bottom-3 flex justify-center">
            <Button icon={ArrowDownIcon} onClick={jump} className="pointer-events-auto shadow-popup">
              Jump to newest
            </Button>
          </div>
        )}
      </div>
      <div className="border-t border-line px-4 py-3">
        <div className="mx-auto flex max-w-180 flex-col gap-2">
          {aside.map(({ id, tool }) => (
            <p key={id} className="flex items-center gap-2 text-sm">
              <WarningIcon className="text-amber" />
              The planner waits for a decision on <span className="font-mono">{tool ?? "a request"}</span>
              <Link to="/inbox/$id" params={{ id }} className="rounded-sm text-accent underline">
                Decide
              </Link>
            </p>
          ))}
          {busy && <BusyNotice busy={busy} onSend={send} onClose={forgetBusy} isSending={isSending} />}
          <Composer
            key={composer.current.key}
            agent={agent}
            initial={conversationId === undefined ? (say ?? "") : ""}
            isRunning={isRunning}
            closed={mayOperate ? undefined : `${WHO_MAY.operate} can send messages`}
            isSending={isSending}
            isStopping={stop.isPending}
            onSend={(parts) => {
              jump();
              return send(parts);
            }}
            onStop={stopRun}
          />
        </div>
      </div>
    </section>
  );
}

function Beginning({
  agent,
  disabled,
  onSay,
}: {
  agent: string;
  disabled: boolean;
  onSay: (text: string) => void;
}) {
  const suggestions = suggestionsFor(agent);
  return (
    <div className="flex flex-col items-center gap-3 px-4 py-16 text-center">
      <PlaygroundIcon width={24} height={24} className="text-faint" />
      <h2 className="text-lg font-semibold">A new conversation with {agent}</h2>
      <p className="text-muted">
        {suggestions.length > 0 ? "Write below, or begin with one of these." : "Write below to begin."}
      </p>
      <div className="flex flex-wrap justify-center gap-2">
        {suggestions.map((text) => (
          <Button key={text} onClick={() => onSay(text)} disabled={disabled}>
            {text}
          </Button>
        ))}
      </div>
    </div>
  );
}

/** What was said to a run under way and has not joined it yet. */
function Underway({ steered }: { steered: readonly Steered[] }) {
  return steered.map(({ receipt, parts }) => (
    <div key={receipt} className="mb-3 rounded-md border border-dashed border-control px-3 py-2">
      <p className="mb-1 text-xs text-muted">Received. It joins at the next step.</p>
      <Said parts={parts} />
    </div>
  ));
}

/** Somebody else's run is under way here. */
function BusyNotice({
  busy,
  onSend,
  onClose,
  isSending,
}: {
  busy: Busy;
  onSend: (parts: UserPart[], whenBusy: "steer" | "queue") => Promise<boolean>;
  onClose: () => void;
  isSending: boolean;
}) {
  return (
    <div role="alert" className="rounded-md border border-amber p-3 text-sm">
      <p>Another run began in this conversation meanwhile. Your message was not sent.</p>
      <div className="mt-2 flex flex-wrap gap-2">
        <Button size="small" disabled={isSending} onClick={() => void onSend([...busy.parts], "steer")}>
          Steer that run with it
        </Button>
        <Button size="small" disabled={isSending} onClick={() => void onSend([...busy.parts], "queue")}>
          Send it after that run
        </Button>
        <Button size="small" kind="quiet" onClick={onClose}>
          Do nothing
        </Button>
      </div>
    </div>
  );
}

/** For those who do not see it: what it is at, not every word. */
function announcement(tree: Tree, agent: string): string {
  const run = rootOf(tree);
  const [question] = openQuestions(tree);
  if (question && !isOver(run)) return `Waiting for you: ${question.tool ?? "a decision"}`;
  switch (run.state) {
    case "completed":
      return `${agent} has answered`;
    case "error":
      return `The run failed: ${run.failure?.message ?? ""}`;
    case "cancelled":
      return "The run was stopped";
    case "parked":
      return "The run is parked";
    default:
      return `${agent} is working`;
  }
}
