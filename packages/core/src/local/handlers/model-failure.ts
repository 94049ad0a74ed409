import type { Failure } from "../../schema/failure.ts";
import { TransformError } from "../../stream/transform.ts";
import type { ModelInput, ModelOut } from "../../turn/world.ts";
import { classifyModelError, incompleteFinish, type ModelFailure } from "../providers/errors.ts";
import type { EngineParts } from "../run-context.ts";
import type { Assembly } from "./assembly.ts";

/** Above this a provider's Retry-After counts as a failure (X8). */
const LONGEST_WAIT_MS = 60_000;
/** Another model would fail alike, or the answer was refused on its merits: no fallback helps. */
const NO_FALLBACK = ["context_overflow", "content_filter"];

/** Names what went wrong. With `held` nothing of it has been shown, so it may be tried again. */
export function failureOf(error: unknown, model: string, assembly: Assembly, held = false): Failure {
  if (error instanceof TransformError) {
    return { code: "hook_failed", message: error.message, details: { hook: error.hook } };
  }
  return modelFailure(classifyModelError(error), model, assembly, held);
}

/** A stream may end without being an answer. If it is one, transformers release what they hold. */
export function endFailure(assembly: Assembly, model: string, held: boolean): Failure | undefined {
  const failure = stopFailure(assembly, model, held);
  if (failure) return failure;
  try {
    assembly.close();
    return undefined;
  } catch (error) {
    return failureOf(error, model, assembly, held);
  }
}

/** A stream may end without an exception and still not be an answer. */
function stopFailure(assembly: Assembly, model: string, held: boolean): Failure | undefined {
  if (assembly.failed) return failureOf(assembly.error, model, assembly, held);
  const incomplete = incompleteFinish(assembly.finish);
  if (incomplete) return modelFailure(incomplete, model, assembly, held);
  if (assembly.finish?.unified === "content-filter") {
    const message = "the provider's content filter stopped the answer";
    return modelFailure({ code: "content_filter", message, retryable: false }, model, assembly, held);
  }
  return lostCalls(assembly) ? modelFailure(LOST_CALLS, model, assembly, held) : undefined;
}

const LOST_CALLS: ModelFailure = {
  code: "stream_error",
  message: "the model asked for tools, but not all of its calls arrived",
  retryable: true,
};

/** Part of a batch is not what the model asked for. At the token limit it is: its last call is then a malformed one. */
function lostCalls({ finish, slots, wrote }: Assembly): boolean {
  if (finish?.unified === "length") return false;
  if (finish?.unified === "tool-calls" && slots.length === 0 && !wrote) return true;
  return slots.some((slot) => slot.input === undefined);
}

/** Whether and how to try again: the same model while it may recover, then the next; never once text was shown. */
export function afterFailure(
  failure: Failure,
  input: Pick<ModelInput, "choice" | "tries">,
  models: number,
  parts: EngineParts,
): ModelOut["again"] {
  const { reason, retryable, emitted, retry_after_ms } = failure.details ?? {};
  if (emitted === true || failure.code !== "model_failed") return undefined;
  const asked = typeof retry_after_ms === "number" ? retry_after_ms : undefined;
  const patient = asked === undefined || asked <= LONGEST_WAIT_MS;
  if (retryable === true && patient && input.tries < parts.retry.retries) {
    return { choice: input.choice, tries: input.tries + 1, in_ms: asked ?? backoff(input.tries, parts) };
  }
  if (input.choice + 1 < models && !NO_FALLBACK.includes(String(reason))) {
    return { choice: input.choice + 1, tries: 0, in_ms: 0 };
  }
  return undefined;
}

/** Exponential with full jitter, never below a quarter so that a crowd spreads out but nobody hammers. */
function backoff(tries: number, { retry, clock }: EngineParts): number {
  const ceiling = Math.min(retry.maxMs, retry.baseMs * 2 ** tries);
  return Math.round(ceiling * (0.25 + 0.75 * clock.random()));
}

function modelFailure(found: ModelFailure, model: string, assembly: Assembly, held: boolean): Failure {
  const { textLength } = assembly;
  const emitted = assembly.emitted && !held;
  const what = textLength > 0 ? `${textLength} characters of text` : "part of its answer";
  const shown = emitted ? ` It had already shown ${what}, so it was not tried again.` : "";
  return {
    code: "model_failed",
    message: `The model ${model} failed: ${found.message}${/[.!?]$/.test(found.message) ? "" : "."}${shown}`,
    details: {
      reason: found.code,
      retryable: found.retryable,
      emitted,
      model,
      ...(found.status === undefined ? {} : { status: found.status }),
      ...(found.retry_after_ms === undefined ? {} : { retry_after_ms: found.retry_after_ms }),
    },
  };
}
