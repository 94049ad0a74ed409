import { TracksideError } from "../errors.ts";
import type { Json } from "../schema/json.ts";

/** What a rail may say, for those who prefer names to strings. */
export const RailAction = Object.freeze({
  CONTINUE: "continue",
  SKIP: "skip",
  RETRY: "retry",
  ABORT: "abort",
} as const);
export type RailAction = (typeof RailAction)[keyof typeof RailAction];

/** How a retry is to be made. `delay` is in seconds, `maxRetries` counts extra attempts. Frozen. */
export class RetryRequest {
  readonly delay: number;
  readonly maxRetries: number;
  readonly reason: string;

  constructor({ delay = 0, maxRetries = 1, reason = "" }: Partial<RetryRequest> = {}) {
    if (!Number.isFinite(delay) || delay < 0)
      throw invalid(`retry: delay is a number of seconds from 0, ${delay} given`);
    if (!Number.isInteger(maxRetries) || maxRetries < 0) {
      throw invalid(`retry: maxRetries is a whole number from 0, ${maxRetries} given`);
    }
    this.delay = delay;
    this.maxRetries = maxRetries;
    this.reason = String(reason);
    Object.freeze(this);
  }
}

/** Known to every copy of this package: a program may well hold two. */
const BRAND: unique symbol = Symbol.for("trackside.verdict") as never; // a registered symbol is as good as a unique one here

function isVerdict(value: unknown): value is RailVerdict {
  return typeof value === "object" && value !== null && BRAND in value;
}

/** What a rail answers with when a bare action does not say enough. Make one with `skip`, `retry`, `abort`, `ask`, `alert`. */
export class RailVerdict {
  readonly [BRAND] = true;
  readonly action: RailAction | "ask";
  readonly reason: string;
  readonly alert: string | undefined;
  readonly replacement: Json | undefined;
  readonly retry: RetryRequest | undefined;

  constructor(
    action: RailAction | "ask",
    reason: string,
    more: { alert?: string | undefined; replacement?: Json | undefined; retry?: RetryRequest } = {},
  ) {
    this.action = action;
    this.reason = reason;
    this.alert = more.alert;
    this.replacement = more.replacement;
    this.retry = more.retry;
    Object.freeze(this);
  }
}

/** Do not do it; go on without, or with `replacement` in its place. */
export function skip(reason = "", more: { replacement?: Json; alert?: string } = {}): RailVerdict {
  return new RailVerdict("skip", reason, more);
}

/** Do it again, at most `maxRetries` times more. */
export function retry(request: Partial<RetryRequest> = {}): RailVerdict {
  const made = request instanceof RetryRequest ? request : new RetryRequest(request);
  return new RailVerdict("retry", made.reason, { retry: made });
}

/** End the run. */
export function abort(reason = "", more: { alert?: string } = {}): RailVerdict {
  return new RailVerdict("abort", reason, more);
}

/** At PRE_TOOL_CALL: let a human decide. Later rails still run. */
export function ask(reason: string, more: { alert?: string } = {}): RailVerdict {
  return new RailVerdict("ask", reason, more);
}

/** Let it pass, but say that it was noticed. */
export function alert(message: string): RailVerdict {
  return new RailVerdict("continue", "", { alert: message });
}

function invalid(message: string): TracksideError {
  return new TracksideError("config_invalid", message);
}

const ACTIONS: readonly string[] = Object.values(RailAction);

/** Reads what `handle` returned: null for a plain continue, a verdict, or the sentence that says what to return. */
export function readReturn(returned: unknown): RailVerdict | null | string {
  if (returned === undefined || returned === RailAction.CONTINUE) return null;
  if (isVerdict(returned)) {
    const { action, reason, alert } = returned;
    if (typeof reason !== "string")
      return `returned ${action}() with ${shown(reason)} as its reason; give text`;
    if (alert !== undefined && typeof alert !== "string")
      return `returned ${action}() with ${shown(alert)} as its alert; give text`;
    return returned;
  }
  if (typeof returned === "string" && ACTIONS.includes(returned)) {
    const action = returned as RailAction; // one of the actions, checked above
    return new RailVerdict(action, "", action === "retry" ? { retry: new RetryRequest() } : {});
  }
  return `returned ${shown(returned)}; return nothing, skip(), retry(), abort(), ask() or a RailAction`;
}

function shown(returned: unknown): string {
  if (typeof returned === "function") return "a function";
  if (typeof returned !== "object" || returned === null) return JSON.stringify(returned) ?? String(returned);
  const { name = "Object" } = returned.constructor ?? {};
  return name === "Object" ? "an object" : `a ${name}`;
}
