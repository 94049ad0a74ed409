import { type LanguageModel, parseModelString } from "trackside";
import { discoverLocal, loadModel } from "trackside/providers";
import { Complaint } from "../complaint.ts";
import type { Io } from "../io.ts";
import { demoModel, type Pace } from "./demo-model.ts";

export interface ChosenModel {
  readonly model: string | LanguageModel;
  /** Sentences for the top of the chat: which model answers, and why that one. */
  readonly about: string;
}

/** Small models of each provider: quick and cheap is what a demo needs. */
const BY_KEY = [
  { env: "OPENAI_API_KEY", model: "openai:gpt-5.4-mini" },
  { env: "ANTHROPIC_API_KEY", model: "anthropic:claude-haiku-5-5" },
] as const;

/** How many models of a local server are offered by number. */
const MOST_OFFERED = 8;
/** How long a server on an address that was given may take to answer. */
const NAMED_MS = 3_000;

export interface Choosing {
  readonly io: Io;
  /** `--model`. */
  readonly given: string | undefined;
  readonly pace: Pace;
  /** Asks a person to pick one; absent when nobody is there. */
  readonly pick?: (models: readonly string[]) => Promise<string | undefined>;
}

/** The model for the demo: what was asked for, else a key's, else one of a local server if wanted, else the scripted one. */
export async function chooseModel({ io, given, pace, pick }: Choosing): Promise<ChosenModel> {
  const flag = io.env.npm_lifecycle_event === "start" ? "npm start -- --model" : "--model";
  if (given !== undefined) return real(io, given, `The model is ${given}, as asked for with --model.`);

  const keys = BY_KEY.filter(({ env }) => io.env[env]?.trim());
  const [first, second] = keys;
  if (first) {
    const other = second ? ` ${second.env} is set too: ${flag} ${second.model} would use it.` : "";
    return real(
      io,
      first.model,
      `The model is ${first.model}, because ${first.env} is set. For another: ${flag} provider:name.${other}`,
    );
  }

  // A server that somebody has named is there, and waited for; else there may be none.
  const isNamed = [io.env.OLLAMA_BASE_URL, io.env.LMSTUDIO_BASE_URL].some((url) => url?.trim());
  const servers = await discoverLocal({ env: io.env, ...(isNamed ? { timeoutMs: NAMED_MS } : {}) });
  const models = servers
    .flatMap(({ provider, models }) => models.map((name) => `${provider}:${name}`))
    .filter((model) => parseModelString(model).ok)
    .slice(0, MOST_OFFERED);
  const picked = models.length > 0 ? await pick?.(models) : undefined;
  if (picked !== undefined) return real(io, picked, `The model is ${picked}, on this machine.`);

  const local =
    models.length > 0
      ? ` A model server runs on this machine: ${flag} ${models[0]} would use it.`
      : ` For a real model set OPENAI_API_KEY or ANTHROPIC_API_KEY, or use ${flag} provider:name.`;
  return {
    model: demoModel(pace),
    about: `The model is a scripted demo, not an AI: it follows fixed rules and needs no key and no network.${local}`,
  };
}

/** A missing key or package is told before the first question, not after it. */
async function real({ env, cwd }: Io, model: string, about: string): Promise<ChosenModel> {
  const loaded = await loadModel(model, {}, { env, project: cwd });
  if (!loaded.ok) throw new Complaint(loaded.failure.message);
  return { model, about };
}
