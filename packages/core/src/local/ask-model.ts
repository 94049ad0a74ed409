import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { RailQuestion } from "../rails/context.ts";
import type { Usage } from "../schema/usage.ts";
import type { Effect } from "./effect.ts";
import { Assembly, SILENT, usageOf } from "./handlers/assembly.ts";
import { endFailure, failureOf } from "./handlers/model-failure.ts";
import { readStream } from "./handlers/read-stream.ts";
import type { RunContext } from "./run-context.ts";

/** One question to a model on behalf of a rail: no tools, no rails of its own, no retries. Throws when it fails. */
export async function askModel(
  run: RunContext,
  question: RailQuestion,
  effect: Effect,
): Promise<{ text: string; usage: Usage }> {
  const choice = question.model ?? run.agent.models[0];
  if (choice === undefined) throw new Error("there is no model to ask");
  const loaded = run.parts.models.get(choice);
  const ready = "then" in loaded ? await loaded : { model: loaded };
  if ("failure" in ready) throw new Error(ready.failure.message);
  const options: LanguageModelV4CallOptions = {
    prompt: [
      ...(question.system === undefined ? [] : [{ role: "system" as const, content: question.system }]),
      { role: "user", content: [{ type: "text", text: question.prompt }] },
    ],
    abortSignal: effect.signal,
    ...(question.maxTokens === undefined ? {} : { maxOutputTokens: question.maxTokens }),
  };
  const assembly = new Assembly(SILENT);
  const ended = await readStream(ready.model, options, assembly, run.parts, effect);
  const name = typeof choice === "string" ? choice : `${choice.provider}:${choice.modelId}`;
  if (ended.kind === "cancelled") throw new Error(ended.reason);
  const failure =
    ended.kind === "failed" ? failureOf(ended.error, name, assembly) : endFailure(assembly, name, false);
  if (failure) throw new Error(failure.message);
  return { text: assembly.text, usage: usageOf(assembly.usage, run.parts.facts.of(name)) };
}
