import { type ParseArgsConfig, parseArgs } from "node:util";
import { parseModelString } from "trackside";
import { Complaint } from "./complaint.ts";
import { nearest } from "./nearest.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;
type Parsed<O extends Options> = ReturnType<
  typeof parseArgs<{ options: O; allowPositionals: true; tokens: true }>
>;

/** Reads a command's arguments; an option it does not know is a complaint that names the nearest one. */
export function readArguments<const O extends Options>(
  args: readonly string[],
  options: O,
): { values: Parsed<O>["values"]; positionals: string[] } {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, tokens: true });
  } catch (error) {
    if (!isParseError(error)) throw error;
    const unknown = /^Unknown option '(-[^']*)'/.exec(error.message)?.[1];
    if (unknown === undefined) throw new Complaint(sentence(error.message));
    const known = Object.keys(options).map((name) => `--${name}`);
    const near = nearest(unknown, known);
    throw new Complaint(
      `Unknown option ${unknown}. ${near ? `Did you mean ${near}?` : `Known: ${known.join(", ")}.`}`,
    );
  }
}

/** Checks that nothing is given beside what a command takes. */
export function noMore(positionals: readonly string[], most: number, usage: string): void {
  const extra = positionals[most];
  if (extra !== undefined) throw new Complaint(`${JSON.stringify(extra)} is too much. Write: ${usage}`);
}

/** One of several words. */
export function readWord<const W extends string>(
  option: string,
  given: string | undefined,
  words: readonly W[],
): W | undefined {
  if (given === undefined) return undefined;
  const found = words.find((word) => word === given);
  if (found !== undefined) return found;
  const near = nearest(given, words);
  throw new Complaint(
    `${option}: ${JSON.stringify(given)} is none of ${words.join(", ")}.${near ? ` Did you mean ${near}?` : ""}`,
  );
}

/** Some of several words, separated by commas. */
export function readWords<const W extends string>(
  option: string,
  given: string | undefined,
  words: readonly W[],
): W[] | undefined {
  return given?.split(",").flatMap((one) => readWord(option, one.trim(), words) ?? []);
}

export function readNumber(
  option: string,
  given: string | undefined,
  { from, to }: { readonly from: number; readonly to: number },
): number | undefined {
  if (given === undefined) return undefined;
  const number = Number(given);
  if (given.trim() !== "" && Number.isInteger(number) && number >= from && number <= to) return number;
  const range = to === Number.POSITIVE_INFINITY ? `from ${from} on` : `from ${from} to ${to}`;
  throw new Complaint(`${option}: a whole number ${range} expected, ${JSON.stringify(given)} given.`);
}

/** How many records a list shows at the most, whatever is asked for. */
const LONGEST_LIST = 1000;

/** Reads `--limit`. */
export function readLimit(given: string | undefined, usual: number): number {
  return readNumber("--limit", given, { from: 1, to: LONGEST_LIST }) ?? usual;
}

/** Checks `--model`. */
export function readModel(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const parsed = parseModelString(given);
  if (!parsed.ok)
    throw new Complaint(`--model: ${parsed.problem}. Write provider:model, such as ollama:llama3.2.`);
  return given;
}

function isParseError(error: unknown): error is Error {
  return error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
