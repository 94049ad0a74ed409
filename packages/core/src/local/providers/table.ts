import type { KnownProvider } from "../../schema/model-string.ts";

/** What a provider cannot work without: a setting, or every variable of one of the sets. */
export type Requirement = {
  what: string;
  setting: "apiKey" | "baseUrl";
  env: ReadonlyArray<readonly string[]>;
};

export type ProviderRow = {
  /** The npm package, an optional peer that the user installs. */
  package: string;
  /** The export that makes a provider from settings. */
  factory: string;
  /** Where the key is looked for when the settings have none; the first one set counts. */
  keyEnv: readonly string[];
  baseUrlEnv: string;
  /** Where the server listens unless told otherwise; without one the package knows its provider's address. */
  baseUrl?: string;
  requires: readonly Requirement[];
  /** Options of the factory that are the same for everybody. */
  options?: Readonly<Record<string, unknown>>;
  /** Options of the factory that come from a variable. */
  optionsEnv?: Readonly<Record<string, string>>;
};

export const PROVIDERS: Readonly<Record<KnownProvider, ProviderRow>> = {
  openai: hosted("@ai-sdk/openai", "createOpenAI", "OPENAI"),
  anthropic: hosted("@ai-sdk/anthropic", "createAnthropic", "ANTHROPIC"),
  google: {
    ...hosted("@ai-sdk/google", "createGoogleGenerativeAI", "GOOGLE"),
    ...keys("GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"),
  },
  mistral: hosted("@ai-sdk/mistral", "createMistral", "MISTRAL"),
  azure: {
    ...hosted("@ai-sdk/azure", "createAzure", "AZURE"),
    requires: [
      ...keys("AZURE_API_KEY").requires,
      { what: "a resource", setting: "baseUrl", env: [["AZURE_RESOURCE_NAME"], ["AZURE_BASE_URL"]] },
    ],
    optionsEnv: { resourceName: "AZURE_RESOURCE_NAME" },
  },
  bedrock: {
    ...hosted("@ai-sdk/amazon-bedrock", "createAmazonBedrock", "BEDROCK"),
    keyEnv: ["AWS_BEARER_TOKEN_BEDROCK"],
    requires: [
      {
        what: "credentials",
        setting: "apiKey",
        env: [["AWS_BEARER_TOKEN_BEDROCK"], ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]],
      },
      { what: "a region", setting: "baseUrl", env: [["AWS_REGION"]] },
    ],
    optionsEnv: {
      region: "AWS_REGION",
      accessKeyId: "AWS_ACCESS_KEY_ID",
      secretAccessKey: "AWS_SECRET_ACCESS_KEY",
      sessionToken: "AWS_SESSION_TOKEN",
    },
  },
  groq: hosted("@ai-sdk/groq", "createGroq", "GROQ"),
  deepseek: hosted("@ai-sdk/deepseek", "createDeepSeek", "DEEPSEEK"),
  xai: hosted("@ai-sdk/xai", "createXai", "XAI"),
  "openai-compatible": {
    ...compatible("openai-compatible", "OPENAI_COMPATIBLE"),
    requires: [{ what: "a base URL", setting: "baseUrl", env: [["OPENAI_COMPATIBLE_BASE_URL"]] }],
  },
  ollama: ownServer("ollama", "OLLAMA", 11434),
  lmstudio: ownServer("lmstudio", "LMSTUDIO", 1234),
  litellm: ownServer("litellm", "LITELLM", 4000),
  vllm: ownServer("vllm", "VLLM", 8000),
};

function hosted(name: string, factory: string, prefix: string): ProviderRow {
  return { package: name, factory, baseUrlEnv: `${prefix}_BASE_URL`, ...keys(`${prefix}_API_KEY`) };
}

function keys(...names: string[]): Pick<ProviderRow, "keyEnv" | "requires"> {
  return {
    keyEnv: names,
    requires: [{ what: "an API key", setting: "apiKey", env: names.map((name) => [name]) }],
  };
}

function compatible(name: string, prefix: string): ProviderRow {
  return {
    package: "@ai-sdk/openai-compatible",
    factory: "createOpenAICompatible",
    keyEnv: [`${prefix}_API_KEY`],
    baseUrlEnv: `${prefix}_BASE_URL`,
    requires: [],
    // Without this the server is not asked for token counts.
    options: { name, includeUsage: true },
  };
}

function ownServer(name: string, prefix: string, port: number): ProviderRow {
  const row = compatible(name, prefix);
  return {
    ...row,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    // All four take a JSON Schema as response format, which servers in general may not.
    options: { ...row.options, supportsStructuredOutputs: true },
  };
}
