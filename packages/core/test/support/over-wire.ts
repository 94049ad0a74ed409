import type { LanguageModelV4 } from "@ai-sdk/provider";
import { loadModel } from "../../src/local/providers/registry.ts";
import { startWireServer, type Wire, type WireReply, type WireServer, wires } from "./wire-server.ts";

export type OverWire = { provider: string; path: string; wire: Wire };

/** The real provider packages, each with the wire it speaks by default. */
export const OVER_WIRE: OverWire[] = [
  { provider: "openai", path: "/v1/responses", wire: wires.openaiResponses },
  { provider: "openai-compatible", path: "/v1/chat/completions", wire: wires.openaiChat },
  { provider: "anthropic", path: "/v1/messages", wire: wires.anthropic },
];

/** A real model of this provider, loaded as users load it, that talks to the server. */
export async function modelAt(provider: string, server: WireServer): Promise<LanguageModelV4> {
  const settings = { [provider]: { baseUrl: `${server.origin}/v1`, apiKey: "test-key" } };
  const loaded = await loadModel(`${provider}:wire-model`, settings, { env: {} });
  if (!loaded.ok) throw new Error(loaded.failure.message);
  return loaded.model;
}

/** Starts a server with these replies for the length of `use`. */
export async function overWire<T>(
  provider: string,
  replies: WireReply | WireReply[],
  use: (model: LanguageModelV4, server: WireServer) => Promise<T>,
): Promise<T> {
  await using server = await startWireServer([replies].flat());
  return await use(await modelAt(provider, server), server);
}
