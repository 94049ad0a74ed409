import type { Failure } from "trackside";
import { type Refusal, refusalOf } from "../shared/refusal.ts";

export interface OpenAiError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string;
}

export function errorBody({ status, code, message, param }: Refusal): { readonly error: OpenAiError } {
  const type = status === 403 ? "permission_error" : status >= 500 ? "server_error" : "invalid_request_error";
  return { error: { message, type, param, code } };
}

/** In the shape that the `openai` package reads. It would repeat some of these by itself, and with them a whole run. */
export function errorResponse(error: unknown): Response {
  const refusal = refusalOf(error);
  const headers = {
    "content-type": "application/json",
    "x-should-retry": refusal.status === 503 ? "true" : "false",
  };
  return new Response(JSON.stringify(errorBody(refusal)), { status: refusal.status, headers });
}

/** A run that failed. */
export function failureBody({ code, message }: Pick<Failure, "code" | "message">): {
  readonly error: OpenAiError;
} {
  return { error: { message, type: "server_error", param: null, code } };
}

export function failureResponse(failure: Pick<Failure, "code" | "message">): Response {
  const headers = { "content-type": "application/json", "x-should-retry": "false" };
  const status = failure.code === "cancelled" ? 409 : 500;
  return new Response(JSON.stringify(failureBody(failure)), { status, headers });
}
