import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import {
  type Approval,
  defineTool,
  type Task,
  type Tool,
  type ToolContext,
  type ToolEffect,
} from "trackside";
import { type ScriptedCall, type ScriptedModel, type ScriptedReply, scriptedModel } from "trackside/testing";
import type { DecideInput } from "../../../src/approvals/approvals.ts";
import type { DurableEngine } from "../../../src/journal/durable-engine.ts";
import type { Ledger } from "./ledger.ts";

/** Ways to break what is tested, so that the test shows that it would notice. */
export type Broken = "lying-effect" | "early-answer" | "always-run" | "never-claims";

export const TENANT = "default";

/** What a scenario is played on: tools and models without a memory of their own, so that every process is alike. */
export class Stage {
  readonly #ledger: Ledger;
  readonly #broken: Broken | undefined;
  #engine: DurableEngine | undefined;

  constructor(ledger: Ledger, broken?: Broken) {
    this.#ledger = ledger;
    this.#broken = broken;
  }

  set engine(engine: DurableEngine) {
    this.#engine = engine;
  }

  /** A tool that leaves its mark in the ledger, and may do something in the middle. */
  tool(name: string, effect: ToolEffect, options: ToolOptions = {}): Tool {
    const { takesMs = 0, meanwhile } = options;
    return defineTool({
      name,
      input: { type: "object" },
      effect: this.#broken === "lying-effect" && effect === "once" ? "idempotent" : effect,
      ...(options.onUnknown ? { onUnknown: options.onUnknown } : {}),
      execute: async (args: object, context) => {
        const result = options.result?.(args) ?? `${name} ${JSON.stringify(args)}`;
        if (takesMs > 0) await sleep(takesMs / 2);
        if (options.refuses?.(context)) throw new Error(`${name} is not possible`);
        this.#ledger.enter({
          what: name,
          effect,
          call: context.callId,
          key: context.idempotencyKey,
          args,
          result,
        });
        await meanwhile?.(context);
        if (takesMs > 0) await sleep(takesMs / 2);
        return result;
      },
    });
  }

  /** Work for after the run. */
  task(name: string): Task {
    return {
      name,
      run: (input) =>
        this.#ledger.enter({ what: name, effect: "none", call: "", key: "", args: input, result: "" }),
    };
  }

  /** Answers by how much has been said in the conversation: the same in every process, however often it is asked. */
  model(...replies: readonly Reply[]): ScriptedModel {
    return scriptedModel(
      [
        async ({ prompt }) => {
          const said = prompt.filter(({ role }) => role === "assistant").length;
          const reply = replies[said];
          if (reply === undefined) throw new Error(`the scenario has no reply ${said + 1}`);
          const { fails = 0, ...answer } = typeof reply === "string" ? { text: reply } : reply;
          if (fails > 0 && fails > this.#tries(`model ${said}`)) return { error: overloaded() };
          return { ...answer, ...(answer.calls ? { calls: answer.calls.map(named(said)) } : {}) };
        },
      ],
      { loop: true, chunk: "whole", record: "none" },
    );
  }

  /** Counts how often something was tried, in the world: a provider remembers what a process that died does not. */
  #tries(what: string): number {
    const before = this.#ledger.read().filter((entry) => entry.what === what).length;
    this.#ledger.enter({ what, effect: "none", call: "", key: "", args: null, result: null });
    return before;
  }

  /**
   * Sends a message to a run, and waits until the run knows of it. `steer` itself answers only when it is known what became
   * of the message, and that it can be read does not say yet that its writer has heard so.
   */
  async steer(runId: string, text: string): Promise<void> {
    const engine = this.#running();
    const { store } = engine;
    const { write } = store;
    const begun: Promise<unknown>[] = [];
    store.write = (work) => {
      const written = write.call(store, work);
      begun.push(written);
      return written as ReturnType<typeof store.write<never>>; // what the work returns
    };
    engine.steer(TENANT, runId, text, { requestId: `steer ${text}` }).catch(() => {}); // its receipt is of no interest here
    store.write = write;
    await Promise.all(begun);
    await setImmediate();
  }

  /** Cancels a run, and waits for the tool it was said in to be stopped. */
  async cancel({ runId, signal }: ToolContext, reason: string): Promise<void> {
    await this.#running().cancel(runId, reason);
    if (signal.aborted) return;
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }

  /** What a human says who looks at the world to find out what happened. */
  unknownOutcome({ call_id }: Approval): DecideInput {
    const ran = this.#broken === "always-run" ? undefined : this.#ledger.outcomeOf(call_id ?? "");
    return ran === undefined
      ? { choice: "run", by: "harness" }
      : { choice: "ran", by: "harness", response: ran.result as never }; // JSON, from a file of JSON
  }

  #running(): DurableEngine {
    if (this.#engine === undefined) throw new Error("the stage has no engine yet");
    return this.#engine;
  }
}

interface ToolOptions {
  readonly takesMs?: number;
  readonly onUnknown?: "ask" | "fail";
  readonly result?: (args: object) => unknown;
  /** Whether it fails, before it has any effect. */
  readonly refuses?: (context: ToolContext) => boolean;
  /** Done after its effect, before it returns. */
  readonly meanwhile?: (context: ToolContext) => Promise<void>;
}

/** `fails` is how many attempts fail before this is said. */
type Reply = string | (ScriptedReply & { readonly fails?: number });

/** Ids on the wire that do not depend on how often this process was asked. */
function named(said: number) {
  return (call: ScriptedCall, i: number): ScriptedCall => ({ id: `wire-${said}-${i}`, ...call });
}

function overloaded(): Error {
  return Object.assign(new Error("overloaded"), { statusCode: 503, isRetryable: true });
}
