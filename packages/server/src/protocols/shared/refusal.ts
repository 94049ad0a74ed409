import { StoreError } from "@trackside/host";
import { AgentConfigError, TracksideError } from "trackside";

export type RefusalStatus = 400 | 403 | 404 | 405 | 409 | 413 | 415 | 500 | 503;

/** A request that is not done. Each protocol says it in its own shape. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: RefusalStatus;
  readonly code: string;
  /** What in the request is wrong, where one thing is. */
  readonly param: string | null;

  constructor(status: RefusalStatus, code: string, message: string, param: string | null = null) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
  }
}

const STATUS: Readonly<Record<string, RefusalStatus>> = {
  not_found: 404,
  approval_unknown: 404,
  conversation_busy: 409,
  approval_conflict: 409,
  config_invalid: 400,
  decision_invalid: 400,
  cursor_invalid: 400,
  not_available: 503,
};

/** What anything thrown on the way is to the client. A bug of ours says nothing about itself. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof StoreError)
    return error.fault === "conflict"
      ? new Refusal(409, "conflict", "Somebody else did this at the same moment. Send it again.")
      : new Refusal(503, "store_failed", "The store cannot be reached. Send it again later.");
  if (error instanceof AgentConfigError)
    return new Refusal(400, error.code, error.message, error.issues[0]?.path ?? null);
  if (error instanceof TracksideError)
    return new Refusal(STATUS[error.code] ?? 500, error.code, error.message);
  return new Refusal(500, "internal", "The server failed in a way it should not. Its log has the details.");
}

const TITLES: Readonly<Record<RefusalStatus, string>> = {
  400: "The request is wrong",
  403: "Not allowed",
  404: "Not found",
  405: "Method not allowed",
  409: "Conflict",
  413: "Too large",
  415: "Unsupported media type",
  500: "Internal error",
  503: "Not available",
};

/** As a problem document (RFC 9457). */
export function problemResponse(refusal: Refusal): Response {
  const { status, code, message: detail, param } = refusal;
  const body = {
    type: "about:blank",
    title: TITLES[status],
    status,
    detail,
    code,
    ...(param === null ? {} : { param }),
  };
  const headers = { "content-type": "application/problem+json" };
  return new Response(JSON.stringify(body), { status, headers });
}

/** The same for a route that answers problems. */
export function asProblem(error: unknown): Response {
  return problemResponse(refusalOf(error));
}
