/** Where provider packages look for keys by themselves; a set of variables goes together. */
const VARIABLES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  openai: [["OPENAI_API_KEY"]],
  anthropic: [["ANTHROPIC_API_KEY"]],
  google: [["GOOGLE_GENERATIVE_AI_API_KEY"], ["GEMINI_API_KEY"]],
  mistral: [["MISTRAL_API_KEY"]],
  azure: [["AZURE_API_KEY"]],
  bedrock: [["AWS_BEARER_TOKEN_BEDROCK"], ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]],
  groq: [["GROQ_API_KEY"]],
  deepseek: [["DEEPSEEK_API_KEY"]],
  xai: [["XAI_API_KEY"]],
  "openai-compatible": [["OPENAI_COMPATIBLE_API_KEY"]],
  ollama: [["OLLAMA_API_KEY"]],
  lmstudio: [["LMSTUDIO_API_KEY"]],
  litellm: [["LITELLM_API_KEY"]],
  vllm: [["VLLM_API_KEY"]],
};

/** One's own servers, which mostly ask for none. */
const WITHOUT = new Set(["openai-compatible", "ollama", "lmstudio", "litellm", "vllm"]);

export function needsKey(provider: string): boolean {
  return !WITHOUT.has(provider);
}

export function keyFromEnvironment(provider: string): boolean {
  const isSet = (name: string) => (process.env[name] ?? "").trim() !== "";
  return (VARIABLES[provider] ?? []).some((names) => names.every(isSet));
}
