import type { Failure, FailureCode } from "./schema/failure.ts";
import type { HookPoint } from "./schema/points.ts";
import type { ConfigIssue } from "./schema/problems.ts";

/** The root of every error this package throws on purpose. `code` is stable; the message is for people. */
export class TracksideError extends Error {
  override readonly name: string = "TracksideError";
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const LISTED_ISSUES = 50;

/** A definition is wrong. `issues` holds every problem found, each with path, given and allowed. */
export class AgentConfigError extends TracksideError {
  override readonly name: string = "AgentConfigError";
  readonly issues: readonly ConfigIssue[];

  constructor(what: string, issues: readonly ConfigIssue[]) {
    const lines = issues.slice(0, LISTED_ISSUES).map((found) => `  - ${found.message}`);
    if (issues.length > lines.length)
      lines.push(`  - and ${issues.length - lines.length} more, in \`issues\``);
    const count = `${issues.length} problem${issues.length === 1 ? "" : "s"}`;
    super("config_invalid", `${what} has ${count}:\n${lines.join("\n")}`);
    this.issues = Object.freeze([...issues]);
  }
}

/** A run ended in failure. `result` holds what there is: messages, usage, steps. */
export class RunError<Result = unknown> extends TracksideError {
  override readonly name: string = "RunError";
  readonly failure: Failure;
  readonly result: Result;

  constructor(failure: Failure, result: Result, options?: ErrorOptions) {
    super(failure.code, failure.message, options);
    this.failure = failure;
    this.result = result;
  }
}

/** A run was cancelled. */
export class RunCancelledError<Result = unknown> extends TracksideError {
  override readonly name: string = "RunCancelledError";
  readonly reason: string;
  readonly result: Result;

  constructor(reason: string, result: Result) {
    super("cancelled" satisfies FailureCode, `The run was cancelled: ${reason}`);
    this.reason = reason;
    this.result = result;
  }
}

/** A rail ended the run. One error, not wrapped; at ERROR the run's own failure is its cause. */
export class RailAbortError<Result = unknown> extends RunError<Result> {
  override readonly name: string = "RailAbortError";
  readonly railName: string;
  readonly reason: string;
  readonly point: HookPoint;

  constructor(failure: Failure, result: Result, options?: ErrorOptions) {
    super(failure, result, options);
    const { rail, reason, point } = failure.details ?? {};
    this.railName = String(rail);
    this.reason = String(reason ?? "");
    this.point = String(point) as HookPoint; // written by `abortFailure`
  }
}

/** The failure of a run that a rail aborted. */
export function abortFailure(rail: string, point: HookPoint, reason: string): Failure {
  const why = reason === "" ? "" : `: ${reason}`;
  return {
    code: "rail_aborted",
    message: `The rail "${rail}" aborted the run at ${point}${why}`,
    details: { rail, point, reason },
  };
}

/** A plain hook threw, timed out or returned something. It names the point and the hook. */
export class HookError<Result = unknown> extends RunError<Result> {
  override readonly name: string = "HookError";
  readonly point: HookPoint;
  readonly hook: string;

  constructor(failure: Failure, result: Result, options?: ErrorOptions) {
    super(failure, result, options);
    const { point, hook } = failure.details ?? {};
    this.point = String(point) as HookPoint; // written by `hookFailure`
    this.hook = String(hook);
  }
}

/** The failure of a run that a plain hook ended. */
export function hookFailure(point: HookPoint, hook: string, problem: string): Failure {
  return {
    code: "hook_failed",
    message: `The hook "${hook}" on ${point} ${problem}`,
    details: { point, hook },
  };
}

/** What anything thrown says about itself; never throws, whatever it is. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message || error.name : String(error);
  } catch {
    return "something that cannot be shown was thrown";
  }
}
