import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { defineTool, type Json, type Tool, type ToolContext, type ToolEffect } from "trackside";
import { type ScriptedReply, type ScriptedRequest, scriptedModel } from "trackside/testing";
import * as z from "zod";

/** One answer of the model. `hold`: where a recording process stops for good, to be killed there. */
export interface Step extends ScriptedReply {
  readonly hold?: "start" | "middle";
  /** The provider is overloaded while the fixture is recorded. */
  readonly overloaded?: true;
  /** Answers with the messages that joined the run. */
  readonly echo?: true;
}

/** What the model says in one turn. The user's message carries it, so that every later process can go on with the run. */
export interface Script {
  readonly name: string;
  readonly steps: readonly (string | Step)[];
  /** The same for the planner. */
  readonly plan?: readonly (string | Step)[];
}

/** One effect on the world outside the processes. */
export interface EffectLine {
  readonly tool: string;
  readonly name: string;
  readonly effect: ToolEffect | "task";
}

export interface WorldInit {
  /** The file of effects, one JSON line each. Part of the fixture: the test goes on with it. */
  readonly effects: string;
  /** Set while recording: the file with a line for each place that was reached and is held. */
  readonly holds?: string;
  /** On an engine that nobody kills: what happens instead of a hold, and where the world fails once. */
  readonly instead?: { hold(name: string): Promise<void>; failsNow(name: string): boolean };
}

export const script = (given: Script): string => JSON.stringify(given);

/** A call of a tool; `hold` stops the recording process before or after the tool's effect. */
export function call(tool: string, name: string, hold?: "before" | "after"): ScriptedReply {
  return { calls: [{ tool, args: { name, ...(hold === undefined ? {} : { hold }) } }] };
}

/** Tools and models without a memory of their own. They keep their effects in a file that outlives every process. */
export class World {
  readonly #init: WorldInit;

  constructor(init: WorldInit) {
    this.#init = init;
  }

  get isRecording(): boolean {
    return this.#init.holds !== undefined;
  }

  /** Never returns while the fixture is recorded; returns at once afterwards. */
  async hold(name: string): Promise<void> {
    await this.#init.instead?.hold(name);
    if (this.#init.holds === undefined) return;
    appendFileSync(this.#init.holds, `${name}\n`);
    await new Promise(() => {});
  }

  /** Whether something that works later fails now. */
  fails(name: string): boolean {
    if (this.isRecording) void this.hold(name);
    return this.isRecording || this.#init.instead?.failsNow(name) === true;
  }

  held(): readonly string[] {
    const { holds } = this.#init;
    return holds === undefined || !existsSync(holds) ? [] : readFileSync(holds, "utf8").trim().split("\n");
  }

  effects(): readonly EffectLine[] {
    if (!existsSync(this.#init.effects)) return [];
    const text = readFileSync(this.#init.effects, "utf8").trim();
    return text === "" ? [] : text.split("\n").map((line) => JSON.parse(line));
  }

  record(line: EffectLine): void {
    appendFileSync(this.#init.effects, `${JSON.stringify(line)}\n`);
  }

  tool(name: string, effect: ToolEffect, more: ToolParts = {}): Tool {
    const { onUnknown, during, result } = more;
    return defineTool({
      name,
      effect,
      ...(onUnknown === undefined ? {} : { onUnknown }),
      input: z.object({ name: z.string(), hold: z.enum(["before", "after"]).optional() }),
      execute: async (args, context): Promise<Json> => {
        if (args.hold === "before") await this.hold(args.name);
        const during_ = await during?.(args.name, context);
        this.record({ tool: name, name: args.name, effect });
        if (args.hold === "after") await this.hold(args.name);
        return during_ ?? result ?? `${name} ${args.name}`;
      },
    });
  }

  /** Answers by what was said so far in the conversation. */
  model(part: "steps" | "plan" = "steps") {
    return scriptedModel([(request) => this.#answer(request, part)], { loop: true, record: "none" });
  }

  async #answer({ prompt }: ScriptedRequest, part: "steps" | "plan"): Promise<ScriptedReply> {
    const [first] = prompt;
    const system = first?.role === "system" ? first.content : "";
    if (system.startsWith("You summarise")) return { text: "The summary." };
    if (system.includes("You verify the work"))
      return { text: JSON.stringify({ passed: true, reason: "It is there." }) };
    const said = prompt.map((message) => ({ role: message.role, text: textOf(message) }));
    const at = said.findLastIndex(({ role, text }) => role === "user" && text.startsWith('{"name"'));
    const joined = said.slice(at + 1).filter(({ role }) => role === "user");
    const heard = `heard: ${joined.map(({ text }) => text).join(", ")}`;
    if (at < 0) return this.#planStep(said.findLast(({ role }) => role === "user")?.text ?? "", heard);
    const found: Script = JSON.parse(said[at]?.text.split("\n")[0] ?? "");
    const spoken = said.slice(at).filter(({ role }) => role === "assistant").length;
    const step = found[part]?.[spoken] ?? { echo: true };
    if (typeof step === "string") return { text: step };
    const { hold, overloaded, echo, ...reply } = step;
    if (hold === "start") await this.hold(found.name);
    if (this.isRecording && hold === "middle") {
      void this.hold(found.name);
      return { ...reply, hangAfter: 5 };
    }
    if (overloaded === true && this.fails(found.name))
      return { error: Object.assign(new Error("overloaded"), { statusCode: 503, isRetryable: true }) };
    return echo === true ? { text: heard } : reply;
  }

  /** Steps of plans (W2) have no script: their titles say what to do. */
  async #planStep(text: string, heard: string): Promise<ScriptedReply> {
    const title = /This step: ([^\n]+)/.exec(text)?.[1];
    if (title === undefined) return { text: heard };
    if (title.startsWith("Hold")) await this.hold(title);
    return { text: `did ${title}` };
  }
}

interface ToolParts {
  readonly onUnknown?: "ask" | "fail";
  /** Happens before the effect; its answer is the tool's result. */
  readonly during?: (name: string, context: ToolContext) => Promise<Json>;
  readonly result?: Json;
}

function textOf(message: ScriptedRequest["prompt"][number]): string {
  if (typeof message.content === "string") return message.content;
  const texts = message.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.join("").replace(/^Task:\n/, "");
}
