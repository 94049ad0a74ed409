import { budgetOf, reserveOf as reservedFor } from "../../context/budget.ts";
import { estimateParts } from "../../context/estimate.ts";
import { type Added, type PipelineServices, runPostHooks, runPreHooks } from "../../hooks/run-pipeline.ts";
import { Turn } from "../../hooks/turn.ts";
import { deepFreeze } from "../../schema/json.ts";
import type { UserMessage } from "../../schema/message.ts";
import { messageText } from "../../turn/expand.ts";
import type { HooksInput, HooksOut } from "../../turn/world.ts";
import type { Effect } from "../effect.ts";
import type { RunContext } from "../run-context.ts";

/** Runs the turn pipeline: pre-hooks before the first model call, post-hooks on an answer. */
export async function pipeline(run: RunContext, input: HooksInput, effect: Effect): Promise<HooksOut> {
  run.enter(input.agent);
  const out = input.phase === "pre" ? await before(run, effect) : await after(run, input, effect);
  return effect.cancelled === undefined ? out : { cancelled: effect.cancelled };
}

async function before(run: RunContext, effect: Effect): Promise<HooksOut> {
  const start = turnOf(run, null);
  const { turn, added, skipped, halted, failure } = await runPreHooks(
    run.agent.preHooks,
    start,
    services(run, effect),
  );
  if (turn.userMessage !== start.userMessage) run.record(turn.userMessage);
  const durable = added
    .filter((one) => one.durable)
    .map((one, i) => recordAdded(run, one, `pre.${i}.durable`));
  const tail = added
    .filter((one) => !one.durable)
    .map((one, i) => recordAdded(run, one, `pre.${i}.transient`));
  return {
    durable,
    tail,
    skipped,
    ...(halted ? { halted } : {}),
    ...(failure ? { fatal: failure } : {}),
  };
}

async function after(run: RunContext, input: HooksInput, effect: Effect): Promise<HooksOut> {
  const answer = run.message(input.message_id ?? "");
  const text = answer?.role === "assistant" ? messageText(answer) : "";
  const out = await runPostHooks(run.agent.postHooks, turnOf(run, text), services(run, effect));
  run.deferred = [...run.deferred, ...out.deferred];
  const durable = out.added.map((one, i) => recordAdded(run, one, `post.${input.step}.${i}`));
  return {
    durable,
    ...(out.halted ? { halted: out.halted } : {}),
    ...(out.regenerate ? { regenerate: out.regenerate } : {}),
    ...(out.failure ? { fatal: out.failure } : {}),
  };
}

function turnOf(run: RunContext, answer: string | null): Turn {
  const opened = run.message(run.userMessage.id);
  return new Turn({
    context: deepFreeze(run.log.said()),
    userMessage: opened?.role === "user" ? opened : run.userMessage,
    turnRef: run.turnRef,
    scope: run.scope,
    answer,
    added: [],
  });
}

/** What a hook added is a message of its own, marked with the hook's name (H4). */
function recordAdded(run: RunContext, { hook, parts }: Added, place: string): string {
  const message: UserMessage = { id: `${run.id}.${place}`, role: "user", parts, by_hook: hook };
  run.record(message);
  return message.id;
}

function services(run: RunContext, effect: Effect): PipelineServices {
  return {
    bounded: (work, timeoutMs) => bounded(run, effect, work, timeoutMs),
    estimate: estimateParts,
    reserve: reserveOf(run),
    taskProblem: (task) => run.parts.taskProblem?.(task),
  };
}

/** Never above half of what a request may have (H6). */
function reserveOf(run: RunContext): number {
  const { definition } = run.agent;
  const facts = run.parts.facts.ofAgent(definition);
  const budget = facts === undefined ? 0 : budgetOf(definition, facts);
  // With no budget at all the run stops before anything is sent, so there is nothing to be kept free (B3).
  return budget === 0 ? definition.injection_reserve_tokens : reservedFor(definition, budget, true);
}

function bounded<T>(
  run: RunContext,
  effect: Effect,
  work: (signal: AbortSignal) => T | PromiseLike<T>,
  timeoutMs: number,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const giveUp = (reason: string) => {
      done();
      reject(new Error(reason));
      controller.abort(new DOMException(reason, "AbortError"));
    };
    const done = () => {
      timer.stop();
      effect.offCancel(listener);
    };
    const listener = { cancelled: giveUp };
    const timer = run.parts.clock.after(timeoutMs, () => giveUp(`timed out after ${timeoutMs} ms`));
    effect.onCancel(listener);
    if (controller.signal.aborted) return;
    new Promise<T>((begin) => begin(work(controller.signal))).then(
      (value) => {
        done();
        resolve(value);
      },
      (error: unknown) => {
        done();
        reject(error);
      },
    );
  });
}
