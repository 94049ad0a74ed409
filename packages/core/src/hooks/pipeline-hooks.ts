import { AgentConfigError } from "../errors.ts";
import { type ConfigIssue, issue, unknownKey } from "../schema/problems.ts";
import type { Content, PipelineAnswer, Turn } from "./turn.ts";

export interface PipelineOptions {
  readonly name: string;
  /** Whether what it adds joins the log for later turns, or is there for this turn only (default). */
  readonly durable?: boolean;
  /** In a parallel group: a failure halts the turn instead of leaving this one out. */
  readonly critical?: boolean;
  readonly timeoutMs?: number;
}

/** What a hook of the pipeline is given beside the turn. */
export interface PipelineContext {
  /** Aborted on cancel and when the hook's time is up. */
  readonly signal: AbortSignal;
}

/** What a post-hook is given beside the turn. */
export interface PostContext extends PipelineContext {
  /** Registers work that runs after the run has ended, and never delays it. */
  defer(task: Task, input?: unknown): void;
}

/** Work for after the run. It has a name, so that it can be found again after a restart. */
export interface Task {
  readonly name: string;
  run(input: unknown): void | Promise<void>;
}

type Answered = PipelineAnswer | Promise<PipelineAnswer>;
type Contents = Content | readonly Content[] | undefined;

interface Base {
  readonly name: string;
  readonly durable: boolean;
  readonly critical: boolean;
  readonly timeoutMs: number;
}

export interface PreHook extends Base {
  readonly kind: "pre";
  run(turn: Turn, ctx: PipelineContext): Answered;
}

/** A member of a parallel group: it gives content and cannot halt the turn or change it otherwise. */
export interface MemberHook extends Base {
  readonly kind: "member";
  run(turn: Turn, ctx: PipelineContext): Contents | Promise<Contents>;
}

export interface PostHook extends Base {
  readonly kind: "post";
  run(turn: Turn, ctx: PostContext): Answered;
}

/** Hooks that run at the same time; what they give is merged in this order, whatever finishes first. */
export interface ParallelGroup {
  readonly kind: "parallel";
  readonly members: readonly MemberHook[];
}

const TIMEOUT_MS = 30_000;
const KEYS = ["name", "durable", "critical", "timeoutMs"];

/** A hook before the first model call. @example preHook({ name: "memory" }, (turn) => cont(turn.append("…"))) */
export function preHook(options: PipelineOptions, run: PreHook["run"]): PreHook {
  return Object.freeze({ kind: "pre", ...base("pre-hook", options, run), run });
}

/** A member of a `parallel` group: returns content, nothing else. */
export function memberHook(options: PipelineOptions, run: MemberHook["run"]): MemberHook {
  return Object.freeze({ kind: "member", ...base("member hook", options, run), run });
}

/** A hook on the final answer: `cont`, `halt` or `regenerate`. */
export function postHook(options: PipelineOptions, run: PostHook["run"]): PostHook {
  return Object.freeze({ kind: "post", ...base("post-hook", options, run), run });
}

/** A group at its place in the pipeline. */
export function parallel(...members: readonly MemberHook[]): ParallelGroup {
  const issues = members.flatMap((member, i) =>
    member?.kind === "member" ? [] : [issue(`parallel[${i}]`, member, "a hook made with memberHook")],
  );
  if (members.length === 0) issues.push(issue("parallel", members, "at least one member"));
  if (issues.length > 0) throw new AgentConfigError("parallel()", issues);
  return Object.freeze({ kind: "parallel", members: Object.freeze([...members]) });
}

function base(what: string, options: PipelineOptions, run: unknown): Base {
  const issues: ConfigIssue[] = [];
  const { name, durable, critical, timeoutMs } = options;
  for (const key of Object.keys(options)) if (!KEYS.includes(key)) issues.push(unknownKey(key, key, KEYS));
  if (typeof name !== "string" || name === "") issues.push(issue("name", name, "a name"));
  if (durable !== undefined && typeof durable !== "boolean")
    issues.push(issue("durable", durable, "a boolean"));
  if (critical !== undefined && typeof critical !== "boolean")
    issues.push(issue("critical", critical, "a boolean"));
  if (timeoutMs !== undefined && !(timeoutMs > 0))
    issues.push(issue("timeoutMs", timeoutMs, "milliseconds above 0"));
  if (typeof run !== "function") issues.push(issue("run", run, "a function"));
  if (issues.length > 0) throw new AgentConfigError(`${what} ${JSON.stringify(name)}`, issues);
  return { name, durable: durable ?? false, critical: critical ?? false, timeoutMs: timeoutMs ?? TIMEOUT_MS };
}
