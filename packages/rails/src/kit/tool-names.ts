import * as z from "zod";
import { anyNumber, oneOrMore } from "./options.ts";

/** The name of a tool, or a pattern: `*` stands for any characters. */
export const toolPattern = z
  .string()
  .regex(/^[A-Za-z0-9_.*-]{1,128}$/, 'a tool\'s name, or a pattern such as "get_*"')
  .describe('A tool\'s name, or a pattern such as "get_*".');

/** Names and patterns, one or a list. */
export const toolPatterns = oneOrMore(toolPattern);

/** The same, and none at all. */
export const anyToolPatterns = anyNumber(toolPattern);

/** Whether a name is one of these. Patterns are tried piece by piece, so that a long one cannot take long. */
export function matcher(patterns: readonly string[]): (name: string) => boolean {
  return (name) => patterns.some((pattern) => matches(pattern, name));
}

function matches(pattern: string, name: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return pattern === name;
  if (!name.startsWith(first) || name.length < first.length + last.length || !name.endsWith(last))
    return false;
  let from = first.length;
  const end = name.length - last.length;
  for (const piece of rest) {
    const at = name.indexOf(piece, from);
    if (at < 0 || at + piece.length > end) return false;
    from = at + piece.length;
  }
  return true;
}
