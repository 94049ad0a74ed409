import type { Note } from "../../turn/note.ts";

/** What a run's requests had in common with the ones before them: how well a provider's cache can do. */
export interface PromptCacheReport {
  /** In order, the planner's too; those of sub-agents are in their own runs. */
  readonly requests: readonly PromptCacheRequest[];
  readonly input_tokens: number;
  readonly prefix_tokens: number;
  readonly cached_tokens: number;
}

export interface PromptCacheRequest {
  readonly step: number;
  readonly lane: "main" | "planner";
  readonly model: string;
  /** As the provider counted. */
  readonly input_tokens: number;
  /** Of these: the beginning that is the same, byte for byte, as in the request before. */
  readonly prefix_tokens: number;
  /** What the provider read from its cache. */
  readonly cached_tokens: number;
  /** Why the request before is not wholly the beginning of this one; null if it is, and for a conversation's first. */
  readonly broken_by: string | null;
}

/** Tokens of one model call, as the loop noted them. */
export type UsageNote = Extract<Note, { type: "usage" }>;

/** What there is to report of a call. Those without a prefix are our own: summaries of a compaction. */
export function requestOf({ step, model, call, prefix, path }: UsageNote): PromptCacheRequest | undefined {
  if (prefix === undefined) return undefined;
  const { input_tokens, cached_input_tokens: cached_tokens } = call;
  const { tokens: prefix_tokens, broken_by } = prefix;
  const lane = path === undefined ? "main" : "planner";
  return { step, lane, model, input_tokens, prefix_tokens, cached_tokens, broken_by };
}

export function promptCacheReport(requests: readonly PromptCacheRequest[]): PromptCacheReport {
  const sum = (field: "input_tokens" | "prefix_tokens" | "cached_tokens") =>
    requests.reduce((tokens, request) => tokens + request[field], 0);
  return {
    requests: requests.map((request) => ({ ...request })),
    input_tokens: sum("input_tokens"),
    prefix_tokens: sum("prefix_tokens"),
    cached_tokens: sum("cached_tokens"),
  };
}
