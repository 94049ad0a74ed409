import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answers, Asking } from "@trackside/host";
import type { Credential } from "./handler.ts";
import { HttpProblem } from "./problem.ts";

const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;
const WAIT_MS = 10_000;
const LOOK_MS = 100;
const RENEW_MS = 20_000;

/** The key of a request, if it has one. */
export function idempotencyKey(headers: Headers): string | undefined {
  const key = headers.get("idempotency-key");
  if (key === null) return undefined;
  if (VISIBLE_ASCII.test(key)) return key;
  const allowed = "1 to 255 visible ASCII characters";
  throw new HttpProblem(400, "idempotency_key", `Idempotency-Key: ${allowed} expected, ${key.length} given.`);
}

/** What the host knows the request by, should this process die between doing it and saying so. */
export function requestIdOf({ user }: Credential, endpoint: string, path: string, key: string): string {
  return `idem_${digestOf(user.id, endpoint, path, key)}`;
}

export interface Once {
  readonly answers: Answers;
  readonly credential: Credential;
  readonly key: string;
  readonly request: Request;
  readonly bytes: Uint8Array;
  readonly signal: AbortSignal;
}

/** Does something once for each key of a caller; whoever asks again gets the first answer (X10). */
export async function once(
  { answers, credential, key, request, bytes, signal }: Once,
  work: () => Promise<Response>,
): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const digest = digestOf(request.method, pathname, search, createHash("sha256").update(bytes).digest("hex"));
  const asking: Asking = { tenant: credential.tenant, caller: credential.user.id, key, digest };
  const until = Date.now() + WAIT_MS;
  for (;;) {
    const asked = await answers.ask(asking);
    switch (asked.state) {
      case "new":
        return doing(answers, asking, asked.claim, work);
      case "answered": {
        const { status, headers, body } = asked.answer;
        return new Response(status === 204 ? null : body, {
          status,
          headers: { ...headers, "idempotency-replayed": "true" },
        });
      }
      case "other":
        throw new HttpProblem(
          422,
          "idempotency_key_reused",
          "This Idempotency-Key was used for another request. Use a new key for each request.",
        );
      case "erased":
        throw new HttpProblem(
          409,
          "answer_erased",
          `This request was done and answered with ${asked.status}; what the answer said was erased since.`,
        );
      case "running":
        if (Date.now() >= until || signal.aborted)
          throw new HttpProblem(
            409,
            "request_running",
            "The first request with this Idempotency-Key is still being worked on.",
            { retryAfterSeconds: 2 },
          );
        await sleep(LOOK_MS, undefined, { signal }).catch(() => {}); // whoever leaves is noticed above
    }
  }
}

async function doing(
  answers: Answers,
  asking: Asking,
  claim: string,
  work: () => Promise<Response>,
): Promise<Response> {
  const renewing = setInterval(() => void answers.renew(asking, claim).catch(() => {}), RENEW_MS);
  try {
    const response = await work();
    const body = response.body === null ? "" : await response.text();
    const { status, headers } = response;
    const shown = { "content-type": headers.get("content-type") ?? "application/json" };
    // A failure of ours is no answer: what comes next tries again, under the same id for the host.
    if (status >= 500 || status === 429) await answers.release(asking, claim);
    else await answers.keep(asking, claim, { status, headers: shown, body });
    return new Response(status === 204 ? null : body, { status, headers });
  } catch (error) {
    await answers.release(asking, claim).catch(() => {}); // it lapses by itself
    throw error;
  } finally {
    clearInterval(renewing);
  }
}

function digestOf(...parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
