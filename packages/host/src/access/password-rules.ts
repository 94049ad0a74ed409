import { refused } from "./refused.ts";
import { nameKey } from "./user-name.ts";

const MIN_CHARS = 10;
export const MAX_PASSWORD_BYTES = 1024;

/** What everybody tries first, without what people add in front and behind to make it longer. */
const OBVIOUS = [
  "password",
  "passw0rd",
  "passwort",
  "trackside",
  "letmein",
  "welcome",
  "qwertyuiop",
  "qwertzuiop",
  "asdfghjkl",
  "1q2w3e4r5t",
  "iloveyou",
  "changeme",
  "default",
  "secret",
  "admin",
  "administrator",
  "root",
  "abcdefghij",
];
const SEQUENCE = "0123456789012345678901234567890";

/** Refuses a password that is too short, too long, or among the first that somebody would try. */
export function checkPassword(password: string, name: string): void {
  const chars = [...password].length;
  if (chars < MIN_CHARS)
    throw refused(
      "password_refused",
      `The password has ${chars} characters; at least ${MIN_CHARS} are needed.`,
    );
  const bytes = Buffer.byteLength(password.normalize("NFKC"), "utf8");
  if (bytes > MAX_PASSWORD_BYTES)
    throw refused(
      "password_refused",
      `The password has ${bytes} bytes; at most ${MAX_PASSWORD_BYTES} are allowed.`,
    );
  if (isObvious(password, name)) {
    const why =
      "The password is one of the first that anyone would try: a common word, a row of keys or the user's name";
    throw refused(
      "password_refused",
      `${why}. Take several words that do not belong together, or a generated one.`,
    );
  }
}

function isObvious(password: string, name: string): boolean {
  const plain = nameKey(password);
  if (new Set(plain).size < 4) return true;
  const core = plain.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, "");
  if (core === "") {
    const digits = plain.replace(/\D/g, "");
    return (
      digits.length === plain.length && (SEQUENCE.includes(digits) || reversed(SEQUENCE).includes(digits))
    );
  }
  const own = nameKey(name);
  const words = [...OBVIOUS, own, ...own.split(/[^\p{L}\p{N}]+/u).filter((part) => part.length > 3)];
  return words.some(
    (word) => core === word || plain === word || core === word + word || core === word + reversed(word),
  );
}

function reversed(text: string): string {
  return [...text].reverse().join("");
}
