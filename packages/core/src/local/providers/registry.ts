import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { type KnownProvider, parseModelString } from "../../schema/model-string.ts";
import { adaptModel, isLanguageModel } from "./adapt.ts";
import { PROVIDERS, type ProviderRow, type Requirement } from "./table.ts";

/** What a host knows about one provider; where it is silent, the environment is asked. */
export type ProviderSettings = {
  baseUrl?: string;
  apiKey?: string;
  headers?: Record<string, string>;
  /** What its requests are made with, such as one that goes only where it may. */
  fetch?: typeof globalThis.fetch;
};

export type LoadModelFailure = {
  code: "provider_missing" | "provider_unconfigured" | "model_invalid";
  message: string;
};

export type LoadedModel = { ok: true; model: LanguageModelV4 } | { ok: false; failure: LoadModelFailure };

export type LoadModelOptions = {
  /** Variables to read, `process.env` by default. */
  env?: Readonly<Record<string, string | undefined>>;
  /** The folder whose packages may be used besides ours, the working directory by default. */
  project?: string;
};

/**
 * Makes the model that a `provider:model` string names, loading the provider's package on first use.
 * What the user has to mend is a failure that says how; a package that is there but broken is thrown.
 * No other provider ever stands in for the one that was named.
 */
export async function loadModel(
  ref: string,
  settings: Readonly<Record<string, ProviderSettings>> = {},
  options: LoadModelOptions = {},
): Promise<LoadedModel> {
  const parsed = parseModelString(ref);
  if (!parsed.ok) return failed("model_invalid", `${capital(parsed.problem)}. Write ${parsed.allowed}.`);
  const { provider, model: modelId } = parsed;
  const row = PROVIDERS[provider];
  const env = options.env ?? process.env;
  const own: ProviderSettings = Object.hasOwn(settings, provider) ? (settings[provider] ?? {}) : {};

  const project = options.project ?? process.cwd();
  const unconfigured = configurationProblem(provider, row, own, env);
  if (unconfigured) {
    return isInstalled(row.package, project)
      ? failed("provider_unconfigured", unconfigured)
      : failed("provider_missing", `${missingPackage(provider, row)} Then: ${unconfigured}`);
  }
  try {
    const exports = await importPackage(row.package, project);
    if (!exports) return failed("provider_missing", missingPackage(provider, row));
    const model = makeModel(exports[row.factory], modelId, factoryOptions(row, own, env));
    if (isLanguageModel(model)) return { ok: true, model: adaptModel(model) };
    const wrong = `The installed version of ${row.package} does not make models of a known specification.`;
    return failed("provider_missing", `${wrong} Run: npm install ${row.package}@latest`);
  } catch (error) {
    if (!isSettingError(error)) throw error;
    return failed("provider_unconfigured", `The provider "${provider}" cannot be set up: ${error.message}`);
  }
}

/** The base URL that a provider's requests go to; undefined where only its package knows. */
export function providerBaseUrl(
  provider: KnownProvider,
  settings: ProviderSettings = {},
  env: LoadModelOptions["env"] = process.env,
): string | undefined {
  const row = PROVIDERS[provider];
  return filled(settings.baseUrl) ?? filled(env[row.baseUrlEnv]) ?? row.baseUrl;
}

function configurationProblem(
  provider: KnownProvider,
  row: ProviderRow,
  settings: ProviderSettings,
  env: NonNullable<LoadModelOptions["env"]>,
): string | undefined {
  const missing = row.requires.filter(
    ({ setting, env: sets }) =>
      !filled(settings[setting]) && !sets.some((names) => names.every((name) => filled(env[name]))),
  );
  if (missing.length > 0) return missing.map((requirement) => missingText(provider, requirement)).join(" ");
  const baseUrl = providerBaseUrl(provider, settings, env);
  if (baseUrl === undefined) return undefined;
  const url = URL.parse(baseUrl);
  const where = `Set ${row.baseUrlEnv} or "baseUrl" in the settings of "${provider}" to an http(s) address.`;
  if (!url || !/^https?:$/.test(url.protocol)) {
    return `The base URL of the provider "${provider}" is not an http(s) address: ${JSON.stringify(baseUrl)}. ${where}`;
  }
  if (url.username || url.password) {
    return `The base URL of the provider "${provider}" holds a user name or password, which cannot be sent. ${where}`;
  }
  return undefined;
}

function missingPackage(provider: KnownProvider, row: ProviderRow): string {
  const needs = `The provider "${provider}" needs the package ${row.package}, which is not installed.`;
  return `${needs} Run: npm install ${row.package}`;
}

function missingText(provider: KnownProvider, { what, setting, env }: Requirement): string {
  const names = env.map((set) => set.join(" and ")).join(", or ");
  return (
    `The provider "${provider}" has no ${what.replace(/^an? /, "")}. ` +
    `Set ${names} in the environment, or "${setting}" in the settings of "${provider}".`
  );
}

function factoryOptions(
  row: ProviderRow,
  settings: ProviderSettings,
  env: NonNullable<LoadModelOptions["env"]>,
): Record<string, unknown> {
  const options: Record<string, unknown> = { ...row.options };
  for (const [option, name] of Object.entries(row.optionsEnv ?? {})) {
    if (filled(env[name])) options[option] = env[name];
  }
  const apiKey = filled(settings.apiKey) ?? row.keyEnv.map((name) => filled(env[name])).find(Boolean);
  if (apiKey) options.apiKey = apiKey;
  const baseUrl = filled(settings.baseUrl) ?? filled(env[row.baseUrlEnv]) ?? row.baseUrl;
  if (baseUrl) options.baseURL = baseUrl;
  if (settings.headers) options.headers = settings.headers;
  if (settings.fetch) options.fetch = settings.fetch;
  return options;
}

function makeModel(factory: unknown, modelId: string, options: Record<string, unknown>): unknown {
  if (typeof factory !== "function") return undefined;
  const provider: unknown = factory(options);
  return typeof provider === "function" ? provider(modelId) : undefined;
}

/** Undefined when the package is nowhere to be found; any other failure to load it is thrown. */
async function importPackage(name: string, project: string): Promise<Record<string, unknown> | undefined> {
  try {
    return await import(/* @vite-ignore */ name);
  } catch (error) {
    if (!isNotFound(error, name)) throw error;
  }
  // Run through npx, this package lies in a cache and the provider's beside the user's code.
  const path = resolveFrom(join(project, "package.json"), name);
  return path === undefined ? undefined : await import(/* @vite-ignore */ pathToFileURL(path).href);
}

function isInstalled(name: string, project: string): boolean {
  const places = [import.meta.url, join(project, "package.json")];
  return places.some((place) => resolveFrom(place, name) !== undefined);
}

function resolveFrom(place: string, name: string): string | undefined {
  try {
    return createRequire(place).resolve(name);
  } catch (error) {
    if (isNotFound(error, name)) return undefined;
    throw error;
  }
}

/** True only for the package itself: a dependency that it misses is a broken installation. */
function isNotFound(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  const isMissing = error.code === "ERR_MODULE_NOT_FOUND" || error.code === "MODULE_NOT_FOUND";
  return isMissing && error.message.includes(`'${name}'`);
}

function isSettingError(error: unknown): error is Error {
  const names = ["AI_LoadAPIKeyError", "AI_LoadSettingError", "AI_InvalidArgumentError"];
  return error instanceof Error && names.includes(error.name);
}

function failed(code: LoadModelFailure["code"], message: string): LoadedModel {
  return { ok: false, failure: { code, message } };
}

/** A variable set to nothing is as good as unset. */
function filled(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed ? trimmed : undefined;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
