import { createHash, createHmac } from "node:crypto";

export type PiiEntity = "email" | "phone" | "card" | "ssn" | "iban" | "ip";

/** What stands in the place of a value. */
export type Replace = (value: string, entity: PiiEntity) => string;

/** `[EMAIL]` */
export const redact: Replace = (_value, entity) => `[${entity.toUpperCase()}]`;

const KEPT = 4;
const SHOWN = /[\p{L}\p{N}]/u;

/** `***-**-6789`: signs stay, and what letters and digits are among the last four characters, at most half of all. */
export const mask: Replace = (value) => {
  const chars = [...value];
  const count = chars.filter((char) => SHOWN.test(char)).length;
  let hide = count - Math.min(KEPT, Math.floor(count / 2));
  const tail = chars.length - KEPT;
  return chars
    .map((char, i) => {
      if (!SHOWN.test(char)) return char;
      hide -= 1;
      return hide >= 0 || i < tail ? "*" : char;
    })
    .join("");
};

const HASH_LENGTH = 8;

/** `[EMAIL:1f3a9c0b]`: the same for the same value however it is written, so that texts can still be joined. */
export function hash(key: string | undefined): Replace {
  return (value, entity) => {
    const plain =
      entity === "email" || entity === "ip"
        ? value.toLowerCase()
        : value.replaceAll(/[^0-9A-Za-z]/g, "").toUpperCase();
    const made = key === undefined ? createHash("sha256") : createHmac("sha256", key);
    return `[${entity.toUpperCase()}:${made.update(`${entity}:${plain}`).digest("hex").slice(0, HASH_LENGTH)}]`;
  };
}
