import { createHash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const BYTES = 32;
const SECRET = /^[A-Za-z0-9_-]{43}$/;

/** 256 random bits in 43 characters that are safe in a URL. */
export function newSecret(): string {
  return randomBytes(BYTES).toString("base64url");
}

/** Whether something can be a secret of ours at all: what cannot is not looked up. */
export function isSecret(text: string): boolean {
  return SECRET.test(text);
}

/**
 * All that is kept of a secret. It is what rows are found by: how long that takes says something about the digest at most,
 * from which nobody gets to 256 random bits. So no salt and no slow hash is needed either.
 */
export function digestOfSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

const TOKEN = /^tsk_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** How many characters of a token people see later, to tell theirs apart. */
export const SHOWN_CHARS = 8;

/**
 * A token: `tsk_`, 256 random bits and a checksum, letters and digits only. So a scanner that looks for leaked ones knows
 * ours from anything else of that shape, and a mistyped one costs no look into the store.
 */
export function newTokenSecret(): string {
  const random = base62(BigInt(`0x${randomBytes(BYTES).toString("hex")}`), 43);
  return `tsk_${random}${checksum(random)}`;
}

export function isTokenSecret(text: string): boolean {
  const [, random = "", sum] = TOKEN.exec(text) ?? [];
  return sum !== undefined && sum === checksum(random); // tells nothing: anyone can work it out
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), 6);
}

function base62(value: bigint, length: number): string {
  let text = "";
  let left = value;
  for (let i = 0; i < length; i++) {
    text = (DIGITS[Number(left % 62n)] ?? "") + text;
    left /= 62n;
  }
  return text;
}
