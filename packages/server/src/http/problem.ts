import { randomUUID } from "node:crypto";
import { CursorError, StoreError } from "@trackside/host";
import { AgentConfigError, TracksideError } from "trackside";
import * as z from "zod";
import type { Problem } from "../contract/index.ts";
import { issuesOf } from "./issues.ts";

interface More {
  readonly headers?: Readonly<Record<string, string>>;
  readonly issues?: Problem["issues"];
  /** Beside a conflict: what is there now. */
  readonly current?: Problem["current"];
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/** A refusal with a status. The detail is shown as it is: it names the thing, what is allowed and what to do. */
export class HttpProblem extends Error {
  override readonly name = "HttpProblem";
  readonly status: number;
  readonly code: string;
  readonly more: More;

  constructor(status: number, code: string, detail: string, more: More = {}) {
    super(detail, { cause: more.cause });
    this.status = status;
    this.code = code;
    this.more = more;
  }
}

export function notFound(detail: string): HttpProblem {
  return new HttpProblem(404, "not_found", detail);
}

/** What the codes of our own errors mean over HTTP. What is not here says nothing about itself outside. */
const STATUS: Readonly<Record<string, number>> = {
  not_found: 404,
  approval_unknown: 404,
  rule_unknown: 404,
  secret_unknown: 404,
  token_unknown: 404,
  user_unknown: 404,

  delivery_invalid: 400,
  not_signed: 401,

  name_taken: 409,
  plan_busy: 409,
  read_only: 409,
  approval_conflict: 409,
  cancelled: 409,
  conversation_busy: 409,
  last_admin: 409,
  schedule_off: 409,
  user_exists: 409,
  version_conflict: 409,

  config_invalid: 422,
  decision_invalid: 422,
  hook_failed: 422,
  not_available: 422,
  not_serializable: 422,
  output_invalid: 422,
  password_refused: 422,
  rail_aborted: 422,
  rule_invalid: 422,
  rules_off: 422,
  budget_exceeded: 422,
  secret_invalid: 422,
  secret_name_invalid: 422,
  token_invalid: 422,
  tool_arguments_invalid: 422,
  url_refused: 422,
  url_unresolved: 422,
  user_invalid: 422,

  role_refused: 403,

  mcp_tool_held: 424,
  mcp_unavailable: 424,
  model_failed: 424,
  model_unavailable: 424,

  busy: 503,
};

const TITLES: Readonly<Record<number, string>> = {
  400: "The request is wrong",
  401: "Not signed in",
  403: "Not allowed",
  404: "Not found",
  405: "Method not allowed",
  406: "Not acceptable",
  408: "Too slow",
  409: "Conflict",
  413: "Too large",
  415: "Wrong content type",
  421: "Wrong host",
  422: "Cannot be done",
  424: "What it depends on failed",
  429: "Too many requests",
  431: "Headers too large",
  500: "Failed",
  503: "Not available now",
};

export interface Reporting {
  /** Takes secrets out of texts that leave. */
  readonly redact: (text: string) => string;
  /** Told what the client is not. */
  readonly log: (line: string) => void;
}

/** The one place where an error becomes what a client is told of it (RFC 9457). */
export function problemOf(
  error: unknown,
  reporting: Reporting,
): { problem: Problem; headers: Record<string, string> } {
  const { status, code, detail, more = {}, instance } = describe(error, reporting);
  const { redact } = reporting;
  const { issues, current, retryAfterSeconds } = more;
  const problem: Problem = {
    type: `urn:trackside:problem:${code}`,
    title: TITLES[status] ?? "Failed",
    status,
    detail: redact(detail),
    code,
    ...(instance === undefined ? {} : { instance }),
    ...(issues === undefined ? {} : { issues: issues.map((issue) => redacted(issue, redact)) }),
    ...(current === undefined ? {} : { current }),
    ...(retryAfterSeconds === undefined ? {} : { retry_after_seconds: retryAfterSeconds }),
  };
  const headers: Record<string, string> = { ...more.headers };
  if (retryAfterSeconds !== undefined) headers["retry-after"] = String(Math.ceil(retryAfterSeconds));
  return { problem, headers };
}

/** `forOpenAi`: with what clients of that API look for beside it. */
export function problemResponse(error: unknown, reporting: Reporting, forOpenAi = false): Response {
  const { problem, headers } = problemOf(error, reporting);
  const { detail: message, title: type, code } = problem;
  const more = forOpenAi ? { error: { message, type, code, param: null } } : {};
  return new Response(JSON.stringify({ ...problem, ...more }), {
    status: problem.status,
    headers: { ...headers, "content-type": "application/problem+json", "cache-control": "no-store" },
  });
}

interface Described {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly more?: More;
  readonly instance?: string;
}

function describe(error: unknown, reporting: Reporting): Described {
  if (error instanceof HttpProblem) {
    const { status, code, message: detail, more } = error;
    return { status, code, detail, more };
  }
  if (error instanceof AgentConfigError) {
    const { code, message: detail, issues } = error;
    return { status: 422, code, detail, more: { issues: issues.map((issue) => ({ ...issue })) } };
  }
  if (error instanceof StoreError) return ofStore(error, reporting);
  if (error instanceof CursorError) return { status: 400, code: "cursor_invalid", detail: error.message };
  if (error instanceof z.ZodError) {
    const issues = issuesOf(error, undefined, "");
    return { status: 400, code: "request_invalid", detail: "The request has problems.", more: { issues } };
  }
  if (error instanceof TracksideError) {
    const status = STATUS[error.code];
    const current = "current" in error ? (error.current as Problem["current"]) : undefined; // conflicts say what is there
    const seconds = retryOf(error);
    const more: More = {
      ...(current === undefined ? {} : { current }),
      ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }),
    };
    if (status !== undefined) return { status, code: error.code, detail: error.message, more };
  }
  return unexpected(error, reporting);
}

/** How long to wait, where an error knows. */
function retryOf(error: TracksideError): number | undefined {
  if ("retryAfterMs" in error && typeof error.retryAfterMs === "number") return error.retryAfterMs / 1000;
  return STATUS[error.code] === 503 ? 5 : undefined;
}

function ofStore(error: StoreError, reporting: Reporting): Described {
  if (error.fault === "conflict")
    return {
      status: 409,
      code: "conflict",
      detail: "Somebody else wrote the same at the same moment. Try again.",
    };
  if (error.fault === "misuse" || error.fault === "unusable") return unexpected(error, reporting);
  const { detail, instance } = unexpected(
    error,
    reporting,
    "The database does not answer. Try again shortly.",
  );
  return { status: 503, code: "store_unavailable", detail, instance, more: { retryAfterSeconds: 5 } };
}

function unexpected(error: unknown, { log, redact }: Reporting, what = "Something went wrong here.") {
  const reference = randomUUID();
  log(redact(`${reference} ${textOf(error)}`));
  return {
    status: 500,
    code: "internal",
    detail: `${what} The server's log has more under ${reference}.`,
    instance: `urn:uuid:${reference}`,
  };
}

/** Never throws, whatever was thrown. */
function textOf(error: unknown): string {
  try {
    if (!(error instanceof Error)) return String(error);
    const cause = error.cause === undefined ? "" : `\ncaused by ${textOf(error.cause)}`;
    return `${error.stack ?? error.message}${cause}`;
  } catch {
    return "something that cannot be shown was thrown";
  }
}

type Issue = NonNullable<Problem["issues"]>[number];

function redacted({ path, given, allowed, message }: Issue, redact: (text: string) => string): Issue {
  return { path: redact(path), given: redact(given), allowed, message: redact(message) };
}
