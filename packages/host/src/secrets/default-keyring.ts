import { randomBytes } from "node:crypto";
import { TracksideError } from "trackside";
import { fileKeyring } from "./file-keyring.ts";
import { KEY_BYTES, type Keyring, keyring, keyringFromEnv } from "./keyring.ts";

/**
 * The keys of a host that was given none in code: those of `TRACKSIDE_SECRET_KEY`, else those of a file, which a store in one
 * file has beside it. With both, new things are under the variable's key, and what the file's keys closed still opens. With
 * neither it says what to set, the first time a key is needed.
 */
export function defaultKeyring(
  from: { readonly file?: string; readonly env?: Readonly<Record<string, string | undefined>> } = {},
): Keyring {
  const env = keyringFromEnv(from.env);
  const file = from.file === undefined ? undefined : fileKeyring(from.file);
  if (env === undefined) return file ?? noKeyring;
  if (file === undefined) return env;
  return {
    source: `${env.source} or ${file.source}`,
    current: () => env.current(),
    find: (id) => env.find(id) ?? file.find(id),
    ids: () => [...new Set([...env.ids(), ...file.ids()])],
  };
}

/** A key that nobody keeps, for a store that nobody keeps either. */
export function passingKeyring(): Keyring {
  return keyring({ current: "passing", keys: { passing: randomBytes(KEY_BYTES) } });
}

const noKeyring: Keyring = {
  source: "TRACKSIDE_SECRET_KEY",
  current() {
    throw new TracksideError(
      "secret_key_missing",
      "Something has to be encrypted or signed, and there is no key. Set TRACKSIDE_SECRET_KEY to 32 random bytes " +
        "(openssl rand -base64 32), the same for every process that shares the store",
    );
  },
  find: () => undefined,
  ids: () => [],
};
