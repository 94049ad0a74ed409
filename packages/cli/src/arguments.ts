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
