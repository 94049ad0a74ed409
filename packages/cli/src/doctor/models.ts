import { discoverLocal } from "trackside/providers";
import type { Io } from "../io.ts";
import type { Finding } from "./finding.ts";

const KEYS: Readonly<Record<string, string>> = {
  OPENAI_API_KEY: "openai",
  ANTHROPIC_API_KEY: "anthropic",
  GOOGLE_GENERATIVE_AI_API_KEY: "google",
  MISTRAL_API_KEY: "mistral",
  GROQ_API_KEY: "groq",
  XAI_API_KEY: "xai",
  DEEPSEEK_API_KEY: "deepseek",
};

/** Which models could answer. Keys are looked for, not tried: that would cost money. */
export async function* checkModels({ env }: Io): AsyncGenerator<Finding> {
  const found = Object.entries(KEYS).flatMap(([name, provider]) => (env[name]?.trim() ? [provider] : []));
  yield {
    what: "Keys",
    state: found.length > 0 ? "ok" : "note",
    detail: found.length > 0 ? `for ${found.join(", ")}` : "none in the environment",
    ...(found.length > 0
      ? {}
      : {
          next: "Set OPENAI_API_KEY or ANTHROPIC_API_KEY, or keep a key in the control room under Settings, Providers.",
        }),
  };
  const servers = await discoverLocal({ env });
  for (const { provider, models } of servers)
    yield {
      what: "Model server",
      state: "ok",
      detail: `${provider} on this machine, with ${models.join(", ")}`,
    };
}
