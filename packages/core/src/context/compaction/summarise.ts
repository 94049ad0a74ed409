import type { Message, UserMessage } from "../../schema/message.ts";
import { clip, longestThatFits } from "./clip.ts";
import { type Lengths, lineOf, type Material } from "./material.ts";
import { earlierSummary, materialText, messagesLeftOut, summaryPrompt } from "./texts.ts";

/** A model call that compaction wants made. It is sent as it is: `prompt` as the system prompt, no tools. */
export interface SummaryRequest {
  readonly prompt: string;
  readonly messages: readonly Message[];
  readonly maxTokens: number;
}

/** Work that now and then needs a summary; it goes on with the text, or with null when the model had none. */
export type Asking<Result> = Generator<SummaryRequest, Result, string | null>;

export type Count = (message: Message) => number;

/** The most material for one request: a model that reads more of it at once says less of each. */
const MOST_MATERIAL = 30_000;
/** Below this there is nothing to be said about it. */
const LEAST_MATERIAL = 60;
/** The most requests for one summary. */
const MOST_REQUESTS = 3;

/** Tried in this order, until everything fits. */
const LENGTHS: readonly Lengths[] = [
  { said: 8_000, tools: 2_000 },
  { said: 2_000, tools: 600 },
  { said: 600, tools: 200 },
  { said: 160, tools: 80 },
];

/**
 * Asks for a summary of at most `maxTokens`. Each request fits the window, whatever is in the material: long texts are
 * clipped, what is too much for one request goes into a few, each with the summary of those before it, and what is too much
 * for these is left out, oldest first. The same material always makes the same requests.
 */
export function* summarise(
  material: readonly Material[],
  { id, maxTokens, window, count }: { id: string; maxTokens: number; window: number; count: Count },
): Asking<string | null> {
  const prompt = summaryPrompt(maxTokens);
  const ask = (i: number, lines: readonly string[]) => say(`${id}.summary.${i}`, materialText(lines));
  const most = Math.min(window, MOST_MATERIAL + maxTokens) - count(say(id, prompt)) - maxTokens;
  // What is carried over from the request before has its place in each.
  const room = most - count(ask(0, [])) - count(say(id, earlierSummary(""))) - maxTokens;
  if (room < LEAST_MATERIAL) return null;

  let summary: string | null = null;
  for (const [i, lines] of requestsOf(material, room).entries()) {
    const carried: readonly string[] = summary === null ? [] : [earlierSummary(summary)];
    const fits = (text: string) => count(ask(i, [...carried, text])) <= most;
    const text = longestThatFits(lines.join("\n\n"), fits); // as a rule all of it: lines are counted roughly
    if (text === undefined) return null;
    const said: string | null = yield { prompt, messages: [ask(i, [...carried, text])], maxTokens };
    summary = said === null ? null : shortened(said.trim(), maxTokens, (part) => count(say(id, part)));
    if (summary === null) return null;
  }
  return summary;
}

/** A model may write more than it was asked for. Null when nothing is left. */
function shortened(text: string, most: number, count: (text: string) => number): string | null {
  return longestThatFits(text, (part) => count(part) <= most) || null;
}

/** The material as lines, for one request after another. */
function requestsOf(material: readonly Material[], room: number): readonly (readonly string[])[] {
  for (const lengths of LENGTHS) {
    const requests = pack(material, lengths, room, 0);
    if (requests !== null) return requests;
  }
  const shortest = LENGTHS[LENGTHS.length - 1] ?? { said: 0, tools: 0 };
  for (let skipped = Math.ceil(material.length / 4); ; ) {
    const requests = pack(material, shortest, room, skipped);
    if (requests !== null) return requests;
    skipped += Math.ceil((material.length - skipped) / 4);
  }
}

/** Null when it is too much. */
function pack(
  material: readonly Material[],
  lengths: Lengths,
  room: number,
  skipped: number,
): string[][] | null {
  let lines: string[] = skipped > 0 ? [messagesLeftOut(skipped)] : [];
  const requests = [lines];
  let left = skipped > 0 ? room - LEAST_MATERIAL / 2 : room;
  for (let i = skipped; i < material.length; i++) {
    const piece = material[i];
    const line = piece === undefined ? undefined : lineOf(piece, lengths);
    if (line === undefined || line.text === "") continue;
    const tokens = Math.min(line.tokens, room);
    if (tokens > left) {
      if (requests.length === MOST_REQUESTS) return null;
      lines = [];
      requests.push(lines);
      left = room;
    }
    // One that alone is too long gives its beginning.
    lines.push(line.tokens > room ? clip(line.text, (line.text.length * room) / line.tokens) : line.text);
    left -= tokens;
  }
  return requests;
}

function say(id: string, text: string): UserMessage {
  return { id, role: "user", parts: [{ type: "text", text }] };
}
