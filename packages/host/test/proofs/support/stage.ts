import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import {
  type Approval,
  defineTool,
  type Task,
  type Tool,
  type ToolContext,
  type ToolEffect,
  type ToolServers,
} from "trackside";
import { defineServerTool } from "trackside/engine";
import {
  type ScriptedCall,
  type ScriptedModel,
  type ScriptedReply,
  type ScriptedRequest,
  scriptedModel,
} from "trackside/testing";
import type { DecideInput } from "../../../src/approvals/approvals.ts";
import type { DurableEngine } from "../../../src/journal/durable-engine.ts";
import type { Ledger } from "./ledger.ts";

/** Ways to break what is tested, so that the test shows that it would notice. */
export type Broken = "lying-effect" | "early-answer" | "always-run" | "never-claims" | "late-fence";

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

  /** Servers that offer these tools as `mcp__bank__…`, to whoever connects. */
  servers(...tools: readonly Tool[]): ToolServers {
    const served = tools.map(({ name, input, run }) =>
      defineServerTool(
        {
          name: `mcp__bank__${name}`,
          input: input.jsonSchema,
          execute: (args, context) => run(args, context),
        },
        { name: "bank", trusted: false },
      ),
    );
    return { connect: async () => ({ tools: served, held: [], withheld: [], release: () => {} }) };
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
    return this.#model((prompt) => ({ replies, said: saidIn(prompt) }));
  }

  /** The same for a tree of agents: each conversation by how it begins, a sub-agent's by its task. */
  cast(parts: Readonly<Record<string, readonly Reply[]>>): ScriptedModel {
    return this.#model((prompt) => ({ replies: parts[opening(prompt)] ?? [], said: saidIn(prompt) }));
  }

  /** For a log that is summarised meanwhile: answers by the last result, and makes summaries. */
  summarised(...replies: readonly Reply[]): ScriptedModel {
    return this.#model((prompt) => {
      const [first] = prompt;
      const isSummary = first?.role === "system" && first.content.startsWith("You summarise");
      return isSummary ? { replies: ["what was before"], said: 0 } : { replies, said: lastAnswered(prompt) };
    }, UNREPORTED);
  }

  #model(
    find: (prompt: Prompt) => { replies: readonly Reply[]; said: number },
    also: ScriptedReply = {},
  ): ScriptedModel {
    return scriptedModel(
      [
        async ({ prompt }) => {
          const { replies, said } = find(prompt);
          const reply = replies[said];
          if (reply === undefined) throw new Error(`the scenario has no reply ${said + 1}`);
          const { fails = 0, ...answer } = typeof reply === "string" ? { text: reply } : reply;
          if (fails > 0 && fails > this.#tries(`model ${said}`)) return { error: overloaded() };
          return { ...also, ...answer, ...(answer.calls ? { calls: answer.calls.map(named(said)) } : {}) };
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

/** What the provider says of its tokens is not what there is: the estimate counts. */
const UNREPORTED: ScriptedReply = { usage: { input: 0, output: 0 } };

type Prompt = ScriptedRequest["prompt"];

function saidIn(prompt: Prompt): number {
  return prompt.filter(({ role }) => role === "assistant").length;
}

function opening(prompt: Prompt): string {
  const first = prompt.find((message) => message.role === "user");
  const [part] = first?.role === "user" ? first.content : [];
  return part?.type === "text" ? part.text.replace(/^Task:\n/, "") : "";
}

/** How much had been said when the last result came, by the id that `named` gave its call. */
function lastAnswered(prompt: Prompt): number {
  const last = prompt.findLast((message) => message.role === "tool");
  const [part] = last?.role === "tool" ? last.content : [];
  const id = part?.type === "tool-result" ? part.toolCallId : "";
  return id === "" ? 0 : Number(id.split("-")[1]) + 1;
}

function overloaded(): Error {
  return Object.assign(new Error("overloaded"), { statusCode: 503, isRetryable: true });
}
