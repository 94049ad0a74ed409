import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import { TracksideError } from "trackside";
import { type Key, type Keyring, missingKey } from "./keyring.ts";

/** What something was encrypted for, such as tenant and name. It opens only for the same context. */
export type SealContext = readonly [string, ...string[]];

export interface Sealed {
  readonly key_id: string;
  readonly nonce: Uint8Array;
  /** The encrypted bytes, then the tag that shows them unchanged. */
  readonly content: Uint8Array;
}

export interface Cipher {
  readonly keyring: Keyring;
  seal(plaintext: string | Uint8Array, context: SealContext): Sealed;
  /** Throws when the key is missing, a bit was changed, or the context is another one. */
  open(sealed: Sealed, context: SealContext): Uint8Array;
  /** The same as text for a field of JSON: `enc:v1:<key id>:<base64url>`. */
  sealText(plaintext: string, context: SealContext): string;
  openText(sealed: string, context: SealContext): string;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const PREFIX = "enc:v1:";
const SEALED_TEXT = /^enc:v1:([A-Za-z0-9_-]{1,32}):([A-Za-z0-9_-]+)$/;

/** AES-256-GCM under the keys of a keyring. */
export function cipher(keyring: Keyring): Cipher {
  const made: Cipher = {
    keyring,
    seal(plaintext, context) {
      const key = keyring.current();
      const nonce = randomBytes(NONCE_BYTES);
      const aes = createCipheriv("aes-256-gcm", keyFor(key, context), nonce, { authTagLength: TAG_BYTES });
      aes.setAAD(bind(key.id, context));
      const bytes = typeof plaintext === "string" ? Buffer.from(plaintext, "utf8") : plaintext;
      return {
        key_id: key.id,
        nonce,
        content: Buffer.concat([aes.update(bytes), aes.final(), aes.getAuthTag()]),
      };
    },

    open({ key_id, nonce, content }, context) {
      const key = keyring.find(key_id);
      if (key === undefined) throw missingKey(key_id, keyring, nameOf(context));
      if (nonce.length !== NONCE_BYTES || content.length < TAG_BYTES) throw unreadable(key_id, context);
      const at = content.length - TAG_BYTES;
      const aes = createDecipheriv("aes-256-gcm", keyFor(key, context), nonce, { authTagLength: TAG_BYTES });
      aes.setAAD(bind(key_id, context));
      aes.setAuthTag(content.subarray(at));
      try {
        return Buffer.concat([aes.update(content.subarray(0, at)), aes.final()]);
      } catch (error) {
        throw unreadable(key_id, context, error);
      }
    },

    sealText(plaintext, context) {
      const { key_id, nonce, content } = made.seal(plaintext, context);
      return `${PREFIX}${key_id}:${Buffer.concat([nonce, content]).toString("base64url")}`;
    },

    openText(sealed, context) {
      const [, key_id, data] = SEALED_TEXT.exec(sealed) ?? [];
      if (key_id === undefined || data === undefined) {
        throw new TracksideError(
          "secret_unreadable",
          `${nameOf(context)} is not an encrypted text (${PREFIX}…)`,
        );
      }
      const bytes = Buffer.from(data, "base64url");
      // Decoding drops the last letter's spare bits: a text that differs only there is still not what was written.
      if (bytes.toString("base64url") !== data) throw unreadable(key_id, context);
      const parts = { key_id, nonce: bytes.subarray(0, NONCE_BYTES), content: bytes.subarray(NONCE_BYTES) };
      return Buffer.from(made.open(parts, context)).toString("utf8");
    },
  };
  return made;
}

/** Whether a text is one that `sealText` made; says nothing about whether it can be opened. */
export function isSealedText(text: string): boolean {
  return SEALED_TEXT.test(text);
}

/**
 * Every context has a key of its own: a nonce drawn at random is safe for some billions of messages under one key, and the
 * messages of a busy host would get there.
 */
function keyFor(key: Key, context: SealContext): Uint8Array {
  return createHmac("sha256", key.bytes)
    .update(`trackside seal v1\0${JSON.stringify(context)}`)
    .digest();
}

function bind(keyId: string, context: SealContext): Uint8Array {
  return Buffer.from(JSON.stringify(["v1", keyId, ...context]), "utf8");
}

function nameOf(context: SealContext): string {
  return context.map((part) => JSON.stringify(part)).join(" of ");
}

function unreadable(keyId: string, context: SealContext, cause?: unknown): TracksideError {
  return new TracksideError(
    "secret_unreadable",
    `${nameOf(context)} does not open with the key "${keyId}": it was changed, moved from elsewhere, or the key by that ` +
      "id is another one. Set it again, or bring back the key it was encrypted under",
    { cause },
  );
}
