import type { JsonObject } from "trackside";

/** Options that a factory takes, the least it can do with first, and options that it refuses. */
export interface Lists {
  readonly good: readonly JsonObject[];
  readonly bad: readonly JsonObject[];
}

const limit = { tools: "a", calls: 1, seconds: 60 };
const rule = { tools: "a", verdict: "allow" };
const judged = { subject: "output", question: "Is it right?" };
const UNKNOWN = { nonsense: 1 };

/** Those of guards on texts. */
const onBlock: Lists = {
  good: [{}, { action: "block", onBlock: "skip" }],
  bad: [UNKNOWN, { onBlock: "ask" }, { action: true }, { action: null }],
};
const pii: Lists = {
  good: [...onBlock.good, { entities: ["card", "ip"], action: "hash", hashKey: "k", allow: ["a@b.c"] }],
  bad: [
    ...onBlock.bad,
    { entities: [] },
    { entities: "card" },
    { entities: ["name"] },
    { hashKey: "" },
    { allow: [""] },
  ],
};
const secrets: Lists = {
  good: [...onBlock.good, { action: "redact", allow: ["x"] }],
  bad: [...onBlock.bad, { action: "mask" }, { allow: "x" }],
};
const invisible: Lists = {
  good: [...onBlock.good, { action: "strip" }],
  bad: [...onBlock.bad, { action: "redact" }],
};
const urls: Lists = {
  good: [{ allow: [] }, { allow: ["*", "*.example.com"], images: [], schemes: ["mailto"], replacement: "" }],
  bad: [{}, { allow: "example.com" }, { allow: ["https://example.com"] }, { allow: [], schemes: ["HTTPS"] }],
};
const words: Lists = {
  good: [{ words: ["a"] }, { words: ["a b"], action: "block", wholeWord: false, caseSensitive: true }],
  bad: [
    {},
    { words: [] },
    { words: [" "] },
    { words: "a" },
    { words: ["a"], wholeWord: "yes" },
    { words: ["a".repeat(501)] },
  ],
};
const leaks: Lists = {
  good: [{ protect: ["a text"] }, { canaries: ["heron-4471"], letters: 12, replacement: "" }],
  bad: [UNKNOWN, { protect: [""] }, { canaries: ["a-b"] }, { protect: ["a"], letters: 11 }],
};

export const RAIL_OPTIONS: Readonly<Record<string, Lists>> = {
  "call-limits": {
    good: [{}, { tools: { "get_*": 0 }, toolCalls: 3, modelCalls: 0, onLimit: "abort", message: "" }],
    bad: [
      UNKNOWN,
      { tools: { "a b": 1 } },
      { tools: { a: -1 } },
      { tools: ["a"] },
      { toolCalls: 1.5 },
      { toolCalls: "3" },
    ],
  },
  "injection-tripwire": {
    good: [{}, { action: "skip", signals: ["new-role"], phrases: ["do it"] }],
    bad: [UNKNOWN, { action: "block" }, { signals: [] }, { signals: ["other"] }, { phrases: [" "] }],
  },
  "invisible-text": invisible,
  judge: {
    good: [
      judged,
      { ...judged, onFail: "retry" },
      { ...judged, subject: ["output"], onFail: "retry" },
      { ...judged, subject: ["tool-call", "tool-result"], tools: ["a", "b_*"], model: "openai:m" },
      { ...judged, subject: "tool-call", onFail: "ask", timeoutSeconds: 600, maxTokens: 1 },
      { ...judged, prompt: "{{ question }} {{output}}", system: "s", showInput: false, undecided: "pass" },
    ],
    bad: [
      {},
      { subject: "output" },
      { ...judged, question: "" },
      { ...judged, subject: [] },
      { ...judged, subject: "thought" },
      { ...judged, onFail: "ask" },
      { ...judged, subject: ["tool-call", "output"], onFail: "ask" },
      { ...judged, subject: "tool-call", onFail: "retry" },
      { ...judged, model: "gpt" },
      { ...judged, prompt: "{{question}}" },
      { ...judged, prompt: "{{material}} {{nobody}}" },
      { ...judged, tools: [] },
      { ...judged, timeoutSeconds: 0 },
      { ...judged, timeoutSeconds: 601 },
    ],
  },
  keywords: { good: [...words.good, { words: ["a"], action: "alert" }], bad: words.bad },
  "loop-breaker": {
    good: [
      {},
      { repeats: 1, pingPong: 2, noProgress: 2, warnings: 0, ignore: "wait_*" },
      { ignore: ["a", "b"] },
    ],
    bad: [UNKNOWN, { repeats: 0 }, { pingPong: 1 }, { warnings: -1 }, { ignore: "a b" }, { ignore: [1] }],
  },
  "model-fallback": {
    good: [
      { message: "Later." },
      { retries: 1 },
      { retries: 100, delaySeconds: 0, factor: 1, maxDelaySeconds: 3600, jitter: false, only: "timeout" },
      { message: "Later.", only: ["timeout", "auth"] },
    ],
    bad: [
      {},
      { retries: 0 },
      { delaySeconds: 1 },
      { message: "" },
      { retries: 101 },
      { retries: 1, factor: 11 },
      { retries: 1, only: "bad luck" },
      { retries: 1, only: [] },
      { retries: 1, random: 0.5 },
    ],
  },
  pii,
  "prompt-leak": { good: [{}, ...leaks.good], bad: leaks.bad },
  "rate-limit": {
    good: [
      { limits: [limit] },
      { limits: [limit, { model: true, calls: 1, seconds: 0.5, burst: 2 }] },
      {
        limits: [{ ...limit, tools: ["a", "b"] }],
        by: "user",
        pool: "p",
        onLimit: "skip",
        maxWaitSeconds: 0,
      },
      { limits: [limit], by: [] },
    ],
    bad: [
      {},
      { limits: [] },
      { limits: [{ calls: 1, seconds: 1 }] },
      { limits: [{ ...limit, model: true }] },
      { limits: [{ model: false, calls: 1, seconds: 1 }] },
      { limits: [{ ...limit, calls: 0 }] },
      { limits: [{ ...limit, seconds: 0 }] },
      { limits: [limit], by: "" },
      { limits: [limit], now: 1 },
    ],
  },
  "resilient-tools": {
    good: [
      { tools: "a" },
      { tools: ["get_*"], retries: 0, only: ["tool_failed", "ECONN"], fallback: { "get_*": { a: [null] } } },
    ],
    bad: [
      {},
      { tools: [] },
      { tools: "a", retries: 1.5 },
      { tools: "a", only: "" },
      { tools: "a", fallback: { "a b": 1 } },
    ],
  },
  secrets,
  spend: {
    good: [
      { tokens: 1 },
      { cost: 0.5, prices: { "openai:*": { input: 0, output: 1, cachedInput: 2 } } },
      { seconds: 0.5, outputTokens: 1, onLimit: "abort" },
    ],
    bad: [
      {},
      { outputTokens: 5 },
      { tokens: 0 },
      { cost: 0 },
      { seconds: -1 },
      { tokens: 1, prices: { m: { input: 1 } } },
      { tokens: 1, prices: { "": { input: 1, output: 1 } } },
      { tokens: 1, prices: { m: { input: 1, output: -1 } } },
    ],
  },
  "tool-policy": {
    good: [
      {},
      { rules: [rule], default: "ask" },
      {
        rules: [
          { ...rule, tools: ["a", "b_*"], reason: "r", arguments: { properties: { n: { maximum: 1 } } } },
          {
            ...rule,
            paths: { path: ["/srv"], "files.*.path": { roots: ["x"], base: "/srv", optional: true } },
          },
          {
            ...rule,
            hosts: {
              url: ["*", "*.example.com", "localhost:8080"],
              to: { schemes: ["https"], private: true },
            },
          },
        ],
      },
    ],
    bad: [
      UNKNOWN,
      { default: "maybe" },
      { rules: rule },
      { rules: [{ tools: "a" }] },
      { rules: [{ verdict: "deny" }] },
      { rules: [{ ...rule, reason: "" }] },
      { rules: [{ ...rule, arguments: true }] },
      { rules: [{ ...rule, paths: { "a b": ["/srv"] } }] },
      { rules: [{ ...rule, paths: { path: [] } }] },
      { rules: [{ ...rule, hosts: { url: ["https://example.com/"] } }] },
      { rules: [{ ...rule, hosts: { url: { allow: [] } } }] },
      { rules: [{ ...rule, hosts: { url: { schemes: ["HTTP"] } } }] },
      { rules: [{ ...rule, when: "always" }] },
    ],
  },
  "untrusted-data": {
    good: [
      { untrusted: "a", sensitive: "b" },
      { all: true, sensitive: ["b", "c_*"], action: "abort" },
      { all: true, trusted: "clock", sensitive: "b" },
      { hooks: "search", sensitive: "b" },
      { untrusted: "a", hooks: [], all: false, sensitive: "b", action: "refuse" },
    ],
    bad: [
      {},
      { sensitive: "b" },
      { untrusted: "a" },
      { untrusted: "a", all: true, sensitive: "b" },
      { untrusted: "a", trusted: "c", sensitive: "b" },
      { hooks: [], sensitive: "b" },
      { all: false, sensitive: "b" },
      { untrusted: [], sensitive: "b" },
      { untrusted: "a", sensitive: "b", action: "skip" },
    ],
  },
  "url-policy": urls,
};

export const HOOK_OPTIONS: Readonly<Record<string, Lists>> = {
  "invisible-text": invisible,
  keywords: { good: words.good, bad: [...words.bad, { words: ["a"], action: "alert" }] },
  pii,
  "prompt-leak": {
    good: leaks.good,
    bad: [...leaks.bad, {}, { protect: [], canaries: [] }, { allow: ["a"] }],
  },
  secrets,
  "url-policy": urls,
  "verify-output": {
    good: [
      { maxLength: 1 },
      { schema: { type: "object" }, feedback: "" },
      { patterns: "^a" },
      { patterns: ["^a", { pattern: "\\-", flags: "i", forbidden: true, feedback: "No." }] },
      { patterns: [], maxLength: 5 },
    ],
    bad: [
      {},
      { feedback: "No." },
      { patterns: [] },
      { patterns: "(" },
      { patterns: { pattern: "a", flags: "g" } },
      { patterns: { flags: "i" } },
      { schema: "object" },
      { maxLength: 0 },
      { maxLength: 1, check: true },
    ],
  },
};

/** Wrong in a way that JSON Schema has no words for. */
export const ONLY_THE_FACTORY: readonly (readonly [string, JsonObject])[] = [
  ["tool-policy", { rules: [{ ...rule, paths: { path: ["relative"] } }] }],
  ["tool-policy", { rules: [{ ...rule, arguments: { proprties: {} } }] }],
  ["verify-output", { patterns: { pattern: "(" } }],
  ["verify-output", { schema: { typ: "object" } }],
];
