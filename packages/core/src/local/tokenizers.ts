import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Encoding } from "../context/model-family.ts";
import { sizeText } from "../context/text-size.ts";

export type CountTokens = (text: string) => number;

/** The package that holds OpenAI's encodings; an optional peer, each encoding a module of its own. */
const PACKAGE = "gpt-tokenizer";

/** Letters or signs with no break between them: encoders take quadratic time over such a run, so it is cut. */
const LONGEST_RUN = 64;
/** Characters that are counted one by one; of a longer text, samples are. */
const COUNTED_WHOLE = 32_768;
const SAMPLES = 8;

const loaded = new Map<Encoding, Promise<CountTokens | null>>();

/** An encoding's counter, or null where its package is not installed. Loaded when first asked for, once for a process. */
export function loadTokenizer(encoding: Encoding): Promise<CountTokens | null> {
  let counter = loaded.get(encoding);
  if (counter === undefined) {
    counter = load(encoding);
    loaded.set(encoding, counter);
  }
  return counter;
}

async function load(encoding: Encoding): Promise<CountTokens | null> {
  const { countTokens } = await importEncoding(`${PACKAGE}/encoding/${encoding}`);
  if (typeof countTokens !== "function") return null;
  // Without it a text that names a special token (`<|endoftext|>`) is refused.
  const asText = { disallowedSpecial: new Set<string>() };
  return bounded((text) => Number(countTokens(text, asText)));
}

/** A missing package is no fault, and a broken one no reason to fail a run: estimates do. */
async function importEncoding(name: string): Promise<Record<string, unknown>> {
  try {
    return await import(/* @vite-ignore */ name);
  } catch {
    // Run through npx, this package lies in a cache and the tokenizer beside the user's code.
  }
  try {
    const path = createRequire(join(process.cwd(), "package.json")).resolve(name);
    return await import(/* @vite-ignore */ pathToFileURL(path).href);
  } catch {
    return {};
  }
}

/** A counter whose time is bounded, whatever the text: long runs are cut, long texts are sampled. */
export function bounded(count: CountTokens): CountTokens {
  return (text) => {
    if (text.length <= COUNTED_WHOLE) return countCut(text, count);
    const size = COUNTED_WHOLE / SAMPLES;
    const step = (text.length - size) / (SAMPLES - 1);
    let counted = 0;
    let estimated = 0;
    for (let i = 0; i < SAMPLES; i++) {
      const start = Math.floor(i * step);
      const sample = text.slice(start, start + size);
      counted += countCut(sample, count);
      estimated += estimate(sample);
    }
    // The estimate knows dense passages from thin ones; the samples tell how far it is off.
    return Math.ceil(estimated > 0 ? (estimate(text) * counted) / estimated : counted);
  };
}

function estimate(text: string): number {
  const { plain, wide } = sizeText(text);
  return plain + wide;
}

/** Counts a text piece by piece, cut where a run gets too long; elsewhere it stays whole. */
function countCut(text: string, count: CountTokens): number {
  let tokens = 0;
  let from = 0;
  let run = 0;
  let before = -1;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const kind = kindOf(code);
    run = kind === before ? run + 1 : 1;
    before = kind;
    const isSecondHalf = code >= 0xdc00 && code < 0xe000;
    if (run <= LONGEST_RUN || isSecondHalf) continue;
    tokens += count(text.slice(from, i));
    from = i;
    run = 1;
  }
  return tokens + count(from === 0 ? text : text.slice(from));
}

/** Blanks, digits, other ASCII signs, and letters of any script with whatever else there is. */
function kindOf(code: number): number {
  if (code >= 128) return 3;
  const lower = code | 32;
  if (lower >= 97 && lower <= 122) return 3;
  if (code === 32 || (code >= 9 && code <= 13)) return 0;
  return code >= 48 && code <= 57 ? 1 : 2;
}
