import { messageOf } from "../errors.ts";
import type { Failure } from "../schema/failure.ts";
import { isJson } from "../schema/json.ts";
import { isSendable, type UserPart, userPart } from "../schema/message.ts";
import type { MemberHook, ParallelGroup, PostContext, PostHook, PreHook, Task } from "./pipeline-hooks.ts";
import { type Content, isBlank, PipelineAnswer, Turn, toParts } from "./turn.ts";

/** What the pipeline needs of its surroundings: time, and a measure of content. */
export interface PipelineServices {
  /** Runs something with a signal of its own, which is aborted when it takes longer or the run is cancelled; then rejects. */
  bounded<T>(run: (signal: AbortSignal) => T | PromiseLike<T>, timeoutMs: number): Promise<T>;
  /** Tokens of content. */
  estimate(parts: readonly UserPart[]): number;
  /** How many tokens all hooks together may add. */
  readonly reserve: number;
  /** Why this task cannot be deferred here; undefined when it can. */
  taskProblem(task: Task): string | undefined;
}

/** What one hook added. */
export interface Added {
  readonly hook: string;
  readonly durable: boolean;
  readonly parts: readonly UserPart[];
}

export interface PreResult {
  readonly turn: Turn;
  readonly added: readonly Added[];
  readonly skipped: readonly { hook: string; problem: string }[];
  readonly halted?: { by: string; reason: string };
  readonly failure?: Failure;
}

export interface PostResult {
  readonly added: readonly Added[];
  readonly deferred: readonly { task: Task; input: unknown }[];
  readonly halted?: { by: string; reason: string };
  readonly regenerate?: { by: string; feedback: string };
  readonly failure?: Failure;
}

/** Runs pre-hooks in declared order; a group's members at the same time, merged in declared order (H2). */
export async function runPreHooks(
  hooks: readonly (PreHook | ParallelGroup)[],
  start: Turn,
  services: PipelineServices,
): Promise<PreResult> {
  let turn = start;
  let tokens = 0;
  const added: Added[] = [];
  const skipped: { hook: string; problem: string }[] = [];
  for (const hook of hooks) {
    const ran =
      hook.kind === "parallel"
        ? await runGroup(hook, turn, services)
        : await runOrdered(hook, turn, services);
    skipped.push(...ran.skipped);
    if (ran.failure || ran.halted) return { turn, added, skipped, ...ran.stop };
    for (const one of ran.added) {
      const size = services.estimate(one.parts);
      tokens += size;
      if (tokens > services.reserve)
        return { turn, added, skipped, failure: overflow(one.hook, size, tokens, services.reserve) };
      added.push(one);
    }
    const grown = services.estimate(ran.turn.userMessage.parts) - services.estimate(turn.userMessage.parts);
    if (grown > 0) {
      tokens += grown; // a longer user message takes from the reserve as well (H6)
      if (tokens > services.reserve)
        return { turn, added, skipped, failure: overflow(nameOf(hook), grown, tokens, services.reserve) };
    }
    turn = ran.turn;
  }
  return { turn, added, skipped };
}

/** Runs post-hooks in declared order until one does not let the answer stand. */
export async function runPostHooks(
  hooks: readonly PostHook[],
  start: Turn,
  services: PipelineServices,
): Promise<PostResult> {
  const added: Added[] = [];
  const deferred: { task: Task; input: unknown }[] = [];
  const defer: PostContext["defer"] = (task, input) => {
    if (typeof task?.name !== "string" || typeof task.run !== "function")
      throw new TypeError("defer(task, input) takes a task { name, run }");
    if (input !== undefined && !isJson(input))
      throw new TypeError(
        `defer: the input of "${task.name}" must be JSON, because it is kept until the task runs`,
      );
    const problem = services.taskProblem(task);
    if (problem !== undefined) throw new TypeError(`defer: ${problem}`);
    deferred.push({ task, input });
  };
  for (const hook of hooks) {
    const answer = await answerOf(hook, (signal) => hook.run(start, { signal, defer }), services);
    if ("failure" in answer) return { added: [], deferred: [], failure: answer.failure };
    if ("threw" in answer)
      return { added: [], deferred: [], halted: { by: hook.name, reason: answer.threw } };
    const { kind, reason, turn } = answer.answer;
    if (kind === "halt") return { added: [], deferred: [], halted: { by: hook.name, reason } };
    if (kind === "regenerate" && isBlank(reason)) {
      const failure = wrongReturn(hook.name, "regenerate() without feedback", "regenerate(feedback)");
      return { added: [], deferred: [], failure };
    }
    if (kind === "regenerate")
      return { added: [], deferred: [], regenerate: { by: hook.name, feedback: reason } };
    const problem = postProblem(turn, start);
    if (problem) return { added: [], deferred: [], failure: wrongReturn(hook.name, ...problem) };
    const parts = turn?.added ?? [];
    if (parts.length > 0) added.push({ hook: hook.name, durable: true, parts });
  }
  return { added, deferred };
}

/** A post-hook hands on the turn it was given, at most with something added. */
function postProblem(turn: Turn | null, start: Turn): [given: string, allowed: string] | undefined {
  if (!(turn instanceof Turn)) return ["cont() without a turn", "cont(turn)"];
  if (turn.context !== start.context || turn.userMessage !== start.userMessage)
    return ["a turn with another history or user message", "the turn it was given, with append() at most"];
  const problem = partProblem(turn.added);
  return problem === undefined ? undefined : [problem, "text and file parts"];
}

interface Ran {
  readonly turn: Turn;
  readonly added: readonly Added[];
  readonly skipped: readonly { hook: string; problem: string }[];
  readonly halted?: { by: string; reason: string };
  readonly failure?: Failure;
  readonly stop: { halted?: { by: string; reason: string }; failure?: Failure };
}

async function runOrdered(hook: PreHook, turn: Turn, services: PipelineServices): Promise<Ran> {
  const answer = await answerOf(hook, (signal) => hook.run(turn, { signal }), services);
  if ("failure" in answer) return stopped(turn, { failure: answer.failure });
  if ("threw" in answer) return stopped(turn, { halted: { by: hook.name, reason: answer.threw } });
  const { kind, reason, turn: next } = answer.answer;
  if (kind === "halt") return stopped(turn, { halted: { by: hook.name, reason } });
  if (kind === "regenerate")
    return stopped(turn, { failure: wrongReturn(hook.name, "regenerate(…)", "cont(turn) or halt(reason)") });
  if (!(next instanceof Turn))
    return stopped(turn, { failure: wrongReturn(hook.name, "cont() without a turn", "cont(turn)") });
  if (next.context !== turn.context)
    return stopped(turn, {
      failure: wrongReturn(
        hook.name,
        "a turn with another history",
        "the turn it was given, with append() or withUserMessage()",
      ),
    });
  const parts = next.added;
  if (next.userMessage.parts.length === 0)
    return stopped(turn, {
      failure: wrongReturn(
        hook.name,
        "a turn with an empty user message",
        "withUserMessage(text), or halt(reason)",
      ),
    });
  const problem = partProblem([...parts, ...next.userMessage.parts]);
  if (problem) return stopped(turn, { failure: wrongReturn(hook.name, problem, "text and file parts") });
  return {
    turn: next.handOn(),
    added: parts.length > 0 ? [{ hook: hook.name, durable: hook.durable, parts }] : [],
    skipped: [],
    stop: {},
  };
}

async function runGroup(group: ParallelGroup, turn: Turn, services: PipelineServices): Promise<Ran> {
  const outs = await Promise.all(group.members.map((member) => runMember(member, turn, services)));
  const failed = outs.find((out) => out.stop.failure || out.stop.halted);
  if (failed) return { ...stopped(turn, failed.stop), skipped: outs.flatMap((out) => out.skipped) };
  return {
    turn,
    added: outs.flatMap((out) => out.added),
    skipped: outs.flatMap((out) => out.skipped),
    stop: {},
  };
}

async function runMember(member: MemberHook, turn: Turn, services: PipelineServices): Promise<Ran> {
  let given: unknown;
  try {
    given = await services.bounded((signal) => member.run(turn, { signal }), member.timeoutMs);
  } catch (error) {
    const problem = messageOf(error);
    if (member.critical) return stopped(turn, { halted: { by: member.name, reason: problem } });
    return { turn, added: [], skipped: [{ hook: member.name, problem }], stop: {} };
  }
  if (given === undefined) return { turn, added: [], skipped: [], stop: {} };
  const contents = Array.isArray(given) ? given : [given];
  const parts = toParts(contents as readonly Content[]); // checked below
  const problem = partProblem(parts);
  if (problem)
    return stopped(turn, {
      failure: wrongReturn(
        member.name,
        problem,
        "text, parts or nothing: members of a group only add content",
      ),
    });
  return {
    turn,
    added: parts.length > 0 ? [{ hook: member.name, durable: member.durable, parts }] : [],
    skipped: [],
    stop: {},
  };
}

type HookAnswer = { answer: PipelineAnswer } | { threw: string } | { failure: Failure };

async function answerOf(
  hook: { name: string; timeoutMs: number },
  run: (signal: AbortSignal) => unknown,
  services: PipelineServices,
): Promise<HookAnswer> {
  let given: unknown;
  try {
    given = await services.bounded(run, hook.timeoutMs);
  } catch (error) {
    return { threw: messageOf(error) };
  }
  if (given instanceof PipelineAnswer) return { answer: given };
  return {
    failure: wrongReturn(
      hook.name,
      given instanceof Turn ? "a bare turn" : typeof given,
      "cont(turn), halt(reason) or, after an answer, regenerate(feedback)",
    ),
  };
}

/** Only a hook that runs in order can change the user's message. */
function nameOf(hook: PreHook | ParallelGroup): string {
  return hook.kind === "parallel" ? "parallel" : hook.name;
}

function stopped(turn: Turn, stop: Ran["stop"]): Ran {
  return { turn, added: [], skipped: [], ...stop, stop };
}

function wrongReturn(hook: string, given: string, allowed: string): Failure {
  return {
    code: "hook_failed",
    message: `The hook "${hook}" returned ${given}; return ${allowed}`,
    details: { hook },
  };
}

function overflow(hook: string, size: number, tokens: number, reserve: number): Failure {
  const message = `The hook "${hook}" adds ${size} tokens, which makes ${tokens} of at most ${reserve} (injection_reserve_tokens). Add less, or raise the reserve.`;
  return { code: "hook_failed", message, details: { hook, tokens, reserve } };
}

function partProblem(parts: readonly unknown[]): string | undefined {
  const usable = (part: unknown) => {
    const found = userPart.safeParse(part);
    return found.success && isSendable(found.data);
  };
  return parts.every(usable) ? undefined : "something that is no content";
}
