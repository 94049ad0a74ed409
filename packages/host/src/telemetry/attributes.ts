import type { Usage } from "trackside";
import type { Attributes } from "./otel.ts";

/** How the GenAI conventions call our providers, where they call them otherwise. */
const PROVIDERS: Readonly<Record<string, string>> = {
  azure: "azure.ai.openai",
  bedrock: "aws.bedrock",
  google: "gcp.gemini",
  mistral: "mistral_ai",
  xai: "x_ai",
};

/** Provider and model of `provider:model`; the provider may carry a service of its own, as in `openai.responses`. */
export function modelAttributes(model: string | undefined): Attributes {
  if (model === undefined || model === "") return {};
  const colon = model.indexOf(":");
  if (colon < 0) return { "gen_ai.request.model": model };
  const [provider = ""] = model.slice(0, colon).split(".");
  return {
    "gen_ai.provider.name": PROVIDERS[provider] ?? provider,
    "gen_ai.request.model": model.slice(colon + 1),
  };
}

export function usageAttributes(usage: Usage): Attributes {
  return {
    "gen_ai.usage.input_tokens": usage.input_tokens,
    "gen_ai.usage.output_tokens": usage.output_tokens,
    "gen_ai.usage.cache_read.input_tokens": usage.cached_input_tokens,
    "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
    "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens,
    ...(usage.cost === null ? {} : { "trackside.usage.cost": usage.cost }),
  };
}
