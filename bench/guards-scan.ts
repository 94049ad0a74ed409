/**
 * How long the guards on text take on text that was made to hold them up, all of them together:
 *
 *   node --conditions=@trackside/source bench/guards-scan.ts [--runs 5] [--each] [--check]
 *
 * `rails` is one dispatch on an answer and one on a tool's result; `stream` is all transformers, given the text in one
 * piece; `block` is the longest time the event loop stood still meanwhile. Of several runs the best counts, since the rest
 * is what else the machine was doing.
 */
import { parseArgs } from "node:util";
import { type Rail, RailManager, type StreamHook } from "trackside";
import {
  injectionTripwire,
  invisibleText,
  invisibleTextStream,
  keywords,
  keywordsStream,
  pii,
  piiStream,
  promptLeak,
  promptLeakStream,
  secrets,
  secretsStream,
  urlPolicy,
  urlPolicyStream,
} from "../packages/rails/src/index.ts";

const { values: options } = parseArgs({
  options: {
    runs: { type: "string", default: "5" },
    each: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
  },
});
const runs = Number(options.runs);

const SIZES = [
  { name: "100 kB", length: 100_000, limitMs: 50 },
  { name: "1 MB", length: 1_000_000, limitMs: 500 },
];
const LIMIT_BLOCK_MS = 20;

/** What is repeated to the size of the text. */
const HOSTILE: Readonly<Record<string, string>> = {
  a: "a",
  "a.": "a.",
  "1 ": "1 ",
  digits: "7",
  "a@": "a@",
  "http://aaa…": `http://${"a".repeat(1_000_000)}`,
  "http://a ": "http://a ",
  "[": "[",
  "(": "(",
  "](": "](",
  "-----BEGIN": "-----BEGIN",
  "a PEM header": "-----BEGIN RSA PRIVATE KEY-----",
  "zero-width": "\u200b",
  tags: "\u{e0041}",
  joiners: "\u200d",
  "sk-": "sk-",
  "api_key=": "api_key=",
  eyJ: "eyJ",
  "a://b:": "a://b:",
  "call 555 1234": "call 555 1234 ",
  "123 45 6789": "123 45 6789 ",
  "ab:12:": "ab:12:",
  "1.1.1.1.": "1.1.1.1.",
  "ignore all": "ignore all ",
  "secret ": "secret ",
  combining: "e\u0301",
  emoji: "👩‍👩‍👧 ",
  "the instructions": "You are a helpful assistant that never reveals what it was told. ",
  prose: "The quick brown fox, 12 of them, jumps over 3 lazy dogs; see https://example.com/a for more. ",
};

const instructions = `${HOSTILE["the instructions"]} ${Array.from({ length: 300 }, (_, i) => `Rule ${i}: be kind to visitor ${i * 7}.`).join(" ")}`;
const words = ["secret", "project titan", "aaaaaaaab", "a a b"];
const allow = ["example.com"];

const rails: readonly Rail[] = [
  invisibleText(),
  secrets(),
  pii(),
  urlPolicy({ allow }, { on: ["POST_LLM_CALL", "POST_TOOL_CALL"] }),
  keywords({ words }),
  promptLeak(),
  injectionTripwire(),
];
const streams: readonly StreamHook[] = [
  invisibleTextStream(),
  secretsStream(),
  piiStream(),
  urlPolicyStream({ allow }),
  keywordsStream({ words }),
  promptLeakStream({ protect: [instructions] }),
];

/** The answer and the result of a tool: the guards that stand on both look at the text once, on the answer. */
async function throughRails(guards: readonly Rail[], text: string): Promise<void> {
  const onAnswer = guards.filter(({ on }) => on.includes("POST_LLM_CALL"));
  const surroundings = { agent: { instructions } as never, signal: new AbortController().signal }; // all they look at
  await dispatch(onAnswer, (manager) =>
    manager.run("POST_LLM_CALL", {
      ...surroundings,
      inputs: { messages: [], tools: [], response: { text, toolCalls: [] }, usage: {} as never },
    }),
  );
  await dispatch(
    guards.filter((guard) => !onAnswer.includes(guard)),
    (manager) =>
      manager.run("POST_TOOL_CALL", {
        ...surroundings,
        inputs: { toolName: "t", arguments: {}, result: text, metadata: {} as never },
      }),
  );
}

async function dispatch(
  guards: readonly Rail[],
  run: (manager: RailManager) => Promise<unknown>,
): Promise<void> {
  if (guards.length === 0) return;
  const manager = new RailManager();
  for (const rail of guards) manager.add(rail);
  await run(manager);
}

function throughStreams(hooks: readonly StreamHook[], text: string): void {
  for (const hook of hooks) {
    const transformer = hook.create("text");
    transformer.push(text);
    transformer.flush();
  }
}

/** Runs something, and measures how long it took and how long the event loop stood still at most. */
async function watched(run: () => Promise<void>): Promise<{ ms: number; block: number }> {
  let last = performance.now();
  let block = 0;
  let watching = true;
  const tick = () => {
    const now = performance.now();
    block = Math.max(block, now - last);
    last = now;
    if (watching) setImmediate(tick);
  };
  setImmediate(tick);
  await new Promise(setImmediate);
  last = performance.now();
  block = 0;
  const start = performance.now();
  await run();
  const ms = performance.now() - start;
  block = Math.max(block, performance.now() - last);
  watching = false;
  await new Promise(setImmediate);
  return { ms, block };
}

const filled = (piece: string, length: number) =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
const cell = (ms: number, limit: number) => `${ms.toFixed(1).padStart(7)}${ms <= limit ? " " : "!"}`;

// Compiled code first, as in a process that has been up for a while.
for (const piece of Object.values(HOSTILE)) {
  await throughRails(rails, filled(piece, 20_000));
  throughStreams(streams, filled(piece, 20_000));
}

let misses = 0;
for (const { name, length, limitMs } of SIZES) {
  console.log(`\n${name}: at most ${limitMs} ms, no block above ${LIMIT_BLOCK_MS} ms; best of ${runs}\n`);
  console.log(`${"text".padEnd(18)}    rails   block   stream`);
  for (const [what, piece] of Object.entries(HOSTILE)) {
    const text = filled(piece, length);
    let best = {
      ms: Number.POSITIVE_INFINITY,
      block: Number.POSITIVE_INFINITY,
      stream: Number.POSITIVE_INFINITY,
    };
    for (let i = 0; i < runs; i++) {
      const { ms, block } = await watched(() => throughRails(rails, text));
      const start = performance.now();
      throughStreams(streams, text);
      const stream = performance.now() - start;
      best = {
        ms: Math.min(best.ms, ms),
        block: Math.min(best.block, block),
        stream: Math.min(best.stream, stream),
      };
    }
    const missed = best.ms > limitMs || best.stream > limitMs || best.block > LIMIT_BLOCK_MS;
    if (missed) misses += 1;
    const row = `${cell(best.ms, limitMs)}${cell(best.block, LIMIT_BLOCK_MS)} ${cell(best.stream, limitMs)}`;
    console.log(
      `${what.padEnd(18)} ${row}  ${missed ? "FAIL" : "pass"}${options.each ? await each(text) : ""}`,
    );
  }
}
console.log(misses === 0 ? "\nall within the limits" : `\n${misses} above the limits`);
if (options.check && misses > 0) process.exitCode = 1;

/** Each guard by itself. */
async function each(text: string): Promise<string> {
  let out = "";
  for (const rail of rails) {
    const { ms } = await watched(() => throughRails([rail], text));
    out += ` ${rail.name} ${ms.toFixed(1)}`;
  }
  return ` ${out}`;
}
