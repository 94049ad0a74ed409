import { type LoadModelOptions, providerBaseUrl } from "./registry.ts";

export type LocalServer = { provider: "ollama" | "lmstudio"; baseUrl: string; models: string[] };

export type DiscoverOptions = {
  /** How long a server may take to answer, 300 ms by default. */
  timeoutMs?: number;
  env?: NonNullable<LoadModelOptions["env"]>;
};

// They are listed beside the others and cannot chat.
const EMBEDDING = /embed/i;

/**
 * The model servers that run on this machine, on the addresses `loadModel` would use for them.
 * A server that is absent, slow or answers something else is left out; this never rejects.
 */
export async function discoverLocal(options: DiscoverOptions = {}): Promise<LocalServer[]> {
  const { timeoutMs = 300, env = process.env } = options;
  const probes = (["ollama", "lmstudio"] as const).map(async (provider): Promise<LocalServer[]> => {
    const baseUrl = providerBaseUrl(provider, {}, env);
    if (baseUrl === undefined) return [];
    const models = await listModels(baseUrl, timeoutMs).catch(() => []);
    return models.length > 0 ? [{ provider, baseUrl, models }] : [];
  });
  return (await Promise.all(probes)).flat();
}

async function listModels(baseUrl: string, timeoutMs: number): Promise<string[]> {
  const response = await fetch(`${baseUrl.replace(/\/+$/, "")}/models`, {
    signal: AbortSignal.timeout(timeoutMs),
    redirect: "error",
  });
  if (!response.ok) {
    await response.body?.cancel();
    return [];
  }
  const body: unknown = await response.json();
  const list: unknown = typeof body === "object" && body !== null && "data" in body ? body.data : undefined;
  if (!Array.isArray(list)) return [];
  return list
    .map((entry: unknown) =>
      typeof entry === "object" && entry !== null && "id" in entry ? entry.id : undefined,
    )
    .filter((id): id is string => typeof id === "string" && id !== "" && !EMBEDDING.test(id));
}
