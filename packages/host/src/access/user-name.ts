import { refused } from "./refused.ts";

const NAME = /^[\p{L}\p{N}\p{M}._@+'-]+( [\p{L}\p{N}\p{M}._@+'-]+)*$/u;
const MAX_CHARS = 64;

/** Letters, digits, `. _ @ + ' -` and single spaces between: a name, a handle or an address, and nothing that plays tricks on a screen. */
export function checkUserName(name: string): string {
  const written = name.normalize("NFC");
  if (isUserName(written)) return written;
  const allowed = `1 to ${MAX_CHARS} letters, digits, ". _ @ + ' -" and single spaces between`;
  throw refused("user_invalid", `name: ${allowed} expected, ${JSON.stringify(written.slice(0, 80))} given.`);
}

/** Whether a user can have this name; nobody is looked up by another. */
export function isUserName(name: string): boolean {
  return name.length <= MAX_CHARS * 2 && [...name].length <= MAX_CHARS && NAME.test(name);
}

/** The same for names that people would take for the same, as far as upper and lower case and Unicode's variants go. */
export function nameKey(name: string): string {
  // Up and down again folds what only one of the two would leave apart, such as "ß" and "SS".
  return name.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
}
