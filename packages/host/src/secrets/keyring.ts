import { createHash } from "node:crypto";
import { TracksideError } from "trackside";

/** One key of AES-256. Its id is no secret: it stands beside everything that was encrypted under it. */
export interface Key {
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** The keys that are there. New things are encrypted under the current one; older ones still open what they closed. */
export interface Keyring {
  /** Where its keys come from, for people: `TRACKSIDE_SECRET_KEY`. */
  readonly source: string;
  /** May make the first key, where the keyring is one that makes keys. */
  current(): Key;
  find(id: string): Key | undefined;
  /** The ids it has now. Asking makes no key. */
  ids(): readonly string[];
}

export const KEY_BYTES = 32;
const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/;
const HEX = /^[0-9a-fA-F]{64}$/;
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/;

/**
 * A keyring of keys given in code: bytes, or text in base64 or hex.
 *
 * @example
 * keyring({ current: "2026", keys: { "2026": process.env.KEY_2026, "2025": process.env.KEY_2025 } });
 */
export function keyring(given: {
  readonly current: string;
  readonly keys: Readonly<Record<string, string | Uint8Array>>;
}): Keyring {
  const keys = Object.entries(given.keys).map(([id, key]) => readKey(id, key, `keys.${id}`));
  const current = keys.find(({ id }) => id === given.current);
  if (current === undefined) {
    const known = keys.map(({ id }) => `"${id}"`).join(", ") || "none";
    throw badKey(
      `keyring({ current }) names the key ${JSON.stringify(given.current)}, which is not in keys (${known})`,
    );
  }
  return fixedKeyring("keyring({ keys })", [current, ...keys.filter((key) => key !== current)]);
}

/**
 * The keys in `TRACKSIDE_SECRET_KEY`: one key of 32 bytes in base64 or hex, or several as `id:key,id2:key2`, of which the
 * first is current. Undefined when the variable is not set.
 */
export function keyringFromEnv(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Keyring | undefined {
  const text = env[ENV_NAME]?.trim();
  return text ? fixedKeyring(ENV_NAME, parseKeys(text, ENV_NAME)) : undefined;
}

const ENV_NAME = "TRACKSIDE_SECRET_KEY";

/** Reads `id:key,id2:key2`; a key without an id is known by its digest. Newlines separate as commas do. */
export function parseKeys(text: string, where: string): readonly Key[] {
  const entries = text
    .split(/[,\n]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "" && !entry.startsWith("#"));
  const keys = entries.map((entry, index) => {
    const place = entries.length === 1 ? where : `${where}, key ${index + 1} of ${entries.length}`;
    const colon = entry.indexOf(":");
    if (colon >= 0) return readKey(entry.slice(0, colon).trim(), entry.slice(colon + 1).trim(), place);
    return unnamedKey(entry, place);
  });
  const ids = keys.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined)
    throw badKey(`${where} has two keys with the id "${twice}"; give each an id of its own`);
  return keys;
}

/** A keyring that never changes. The first key is current. */
export function fixedKeyring(source: string, keys: readonly Key[]): Keyring {
  const [current] = keys;
  if (current === undefined) throw badKey(`${source} holds no key; ${howTo}`);
  const byId = new Map(keys.map((key) => [key.id, key]));
  return {
    source,
    current: () => current,
    find: (id) => byId.get(id),
    ids: () => [...byId.keys()],
  };
}

/** The key that closed something is not there. Says which, and what to set. */
export function missingKey(id: string, ring: Keyring, what: string): TracksideError {
  const there = ring.ids().length === 0 ? "no key is there" : `there: ${ring.ids().join(", ")}`;
  return new TracksideError(
    "secret_key_missing",
    `${what} was encrypted under the key "${id}", which ${ring.source} does not hold (${there}). ` +
      `Add it, as \`${id}:<base64 of 32 bytes>\` after the current key; without that key it cannot be read by anyone`,
  );
}

/** The id of a key that was given without one: of the key itself, so that another key is told apart. */
export function idOf(bytes: Uint8Array): string {
  return createHash("sha256").update("trackside key id\0").update(bytes).digest("hex").slice(0, 12);
}

const howTo = "a key is 32 random bytes in base64 or hex: `openssl rand -base64 32`";

function unnamedKey(text: string, where: string): Key {
  const { bytes } = readKey("unnamed", text, where);
  return { id: idOf(bytes), bytes };
}

// No message here ever repeats what was given: a mistyped key is still most of a key.
function readKey(id: string, key: string | Uint8Array, where: string): Key {
  if (!KEY_ID.test(id))
    throw badKey(`${where}: a key's id is 1 to 32 letters, digits, "_" or "-"; "${id.slice(0, 4)}…" is not`);
  const bytes = typeof key === "string" ? decode(key) : Uint8Array.from(key ?? []);
  if (bytes?.length === KEY_BYTES) return { id, bytes };
  const given = typeof key === "string" ? `${key.length} characters` : `${bytes?.length ?? 0} bytes`;
  throw badKey(`${where}: ${given} given, which is not a key; ${howTo}`);
}

function decode(text: string): Uint8Array | undefined {
  if (HEX.test(text)) return Buffer.from(text, "hex");
  return BASE64.test(text) ? Buffer.from(text, "base64") : undefined;
}

function badKey(message: string): TracksideError {
  return new TracksideError("secret_key_invalid", message);
}
