import type { Problem } from "../contract/index.ts";

/** The server said no, or could not be reached (`status` 0). */
export class ApiProblem extends Error {
  override readonly name = "ApiProblem";
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly issues: NonNullable<Problem["issues"]>;
  /** Beside a conflict: what is there now. */
  readonly current: NonNullable<Problem["current"]>;
  readonly retryAfterSeconds: number | undefined;

  constructor(problem: Omit<Problem, "type">, options?: ErrorOptions) {
    super(problem.detail, options);
    this.status = problem.status;
    this.code = problem.code;
    this.title = problem.title;
    this.issues = problem.issues ?? [];
    this.current = problem.current ?? {};
    this.retryAfterSeconds = problem.retry_after_seconds;
  }
}
