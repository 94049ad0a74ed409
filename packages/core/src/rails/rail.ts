import { AgentConfigError } from "../errors.ts";
import { HOOK_POINTS, type HookPoint } from "../schema/points.ts";
import { type ConfigIssue, issue, unknownKey } from "../schema/problems.ts";
import type { RailContext } from "./context.ts";
import type { RailAction, RailVerdict } from "./verdicts.ts";

/** What `handle` may answer with: nothing lets it pass. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function without a return statement returns just that
export type RailReturn = void | undefined | RailAction | RailVerdict;

export interface RailOptions<P extends HookPoint = HookPoint> {
  /** Lower runs first. Guards use 10 to 20, observers 80 to 90. */
  readonly priority?: number;
  /** The points it guards; all of them unless given. */
  readonly on?: readonly P[];
  /** `shadow` runs it on a copy and records what it would have done. */
  readonly mode?: "enforce" | "shadow";
  /** What happens when it throws or times out: the run is aborted, or, for observers, goes on. */
  readonly onError?: "abort" | "continue";
  readonly timeoutMs?: number;
  /** Says that it may `ask`, so that a run without an approver is refused at the start. */
  readonly asks?: boolean;
}

/** Known to every copy of this package: a program may well hold two. */
const BRAND: unique symbol = Symbol.for("trackside.rail") as never; // a registered symbol is as good as a unique one here

export function isRail(value: unknown): value is Rail {
  return typeof value === "object" && value !== null && BRAND in value;
}

const KEYS = ["priority", "on", "mode", "onError", "timeoutMs", "asks"];
const DEFAULT_PRIORITY = 50;
const DEFAULT_TIMEOUT_MS = 30_000;

/**
 * A guard on lifecycle points. Subclass it and write `handle`, or use `defineRail`.
 *
 * @example
 * class BlockTool extends Rail {
 *   handle(ctx: RailContext) {
 *     if (ctx.event === "PRE_TOOL_CALL" && ctx.inputs.toolName === "rm_rf") return abort("not on my watch");
 *   }
 * }
 */
export abstract class Rail {
  readonly [BRAND] = true;
  readonly name: string;
  readonly priority: number;
  readonly on: readonly HookPoint[];
  readonly mode: "enforce" | "shadow";
  readonly onError: "abort" | "continue";
  readonly timeoutMs: number;
  readonly asks: boolean;

  constructor(name: string, options: RailOptions = {}) {
    const issues = problemsOf(name, options);
    if (issues.length > 0) throw new AgentConfigError(`rail ${JSON.stringify(name)}`, issues);
    this.name = name;
    this.priority = options.priority ?? DEFAULT_PRIORITY;
    this.on = Object.freeze([...(options.on ?? HOOK_POINTS)]);
    this.mode = options.mode ?? "enforce";
    this.onError = options.onError ?? "abort";
    this.timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.asks = options.asks ?? false;
  }

  abstract handle(ctx: RailContext): RailReturn | Promise<RailReturn>;
}

/**
 * A rail from a function. `ctx` is what the points in `on` carry, nothing else.
 *
 * @example
 * const noDeletes = defineRail({ name: "no-deletes", on: ["PRE_TOOL_CALL"] }, (ctx) => {
 *   if (ctx.inputs.toolName.startsWith("delete")) return skip("nothing is deleted here");
 * });
 */
export function defineRail<const P extends HookPoint = HookPoint>(
  config: RailOptions<P> & { readonly name: string },
  handle: (ctx: RailContext<P>) => RailReturn | Promise<RailReturn>,
): Rail {
  const { name, ...options } = config;
  return new FunctionRail(name, options, handle as (ctx: RailContext) => RailReturn | Promise<RailReturn>); // called on its own points only
}

class FunctionRail extends Rail {
  readonly #handle: (ctx: RailContext) => RailReturn | Promise<RailReturn>;

  constructor(
    name: string,
    options: RailOptions,
    handle: (ctx: RailContext) => RailReturn | Promise<RailReturn>,
  ) {
    super(name, options);
    if (typeof handle !== "function") {
      throw new AgentConfigError(`rail ${JSON.stringify(name)}`, [
        issue("handle", handle, "a function (ctx) => verdict"),
      ]);
    }
    this.#handle = handle;
    Object.freeze(this);
  }

  override handle(ctx: RailContext): RailReturn | Promise<RailReturn> {
    return this.#handle(ctx);
  }
}

function problemsOf(name: unknown, options: RailOptions): ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  const allow = (ok: boolean, path: string, given: unknown, allowed: string) => {
    if (!ok) issues.push(issue(path, given, allowed));
  };
  for (const key of Object.keys(options)) if (!KEYS.includes(key)) issues.push(unknownKey(key, key, KEYS));
  const { priority, on, mode, onError, timeoutMs, asks } = options;
  allow(
    typeof name === "string" && /^[^\s/]([^/\n]*[^\s/])?$/.test(name),
    "name",
    name,
    "a name on one line, without '/'",
  );
  allow(priority === undefined || Number.isInteger(priority), "priority", priority, "a whole number");
  allow(
    on === undefined ||
      (Array.isArray(on) && on.length > 0 && on.every((point) => HOOK_POINTS.includes(point))),
    "on",
    on,
    `points of ${HOOK_POINTS.join(", ")}`,
  );
  allow([undefined, "enforce", "shadow"].includes(mode), "mode", mode, '"enforce" or "shadow"');
  allow([undefined, "abort", "continue"].includes(onError), "onError", onError, '"abort" or "continue"');
  allow(
    timeoutMs === undefined || (Number.isInteger(timeoutMs) && timeoutMs > 0),
    "timeoutMs",
    timeoutMs,
    "whole milliseconds above 0",
  );
  allow(asks === undefined || typeof asks === "boolean", "asks", asks, "a boolean");
  return issues;
}
