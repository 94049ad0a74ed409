import type { Payload, PayloadCodec } from "@temporalio/common";

/** What encrypts: `cipher(keyring)` of `@trackside/host`. */
export interface Box {
  seal(plaintext: Uint8Array, context: readonly [string]): Sealed;
  open(sealed: Sealed, context: readonly [string]): Uint8Array;
}

interface Sealed {
  readonly key_id: string;
  readonly nonce: Uint8Array;
  readonly content: Uint8Array;
}

const ENCODING = "binary/trackside-sealed";
const CONTEXT = ["temporal"] as const;
const text = new TextEncoder();
const bytes = new TextDecoder();

/**
 * Encrypts whatever goes through Temporal: jobs of sub-agents, plans and what rails keep are words of the conversation, and
 * a history is read by everybody who may look at the server. What was written before there was a key is still read.
 */
export function sealedPayloads(box: Box): PayloadCodec {
  return {
    encode: async (payloads) => payloads.map((payload) => seal(box, payload)),
    decode: async (payloads) => payloads.map((payload) => open(box, payload)),
  };
}

function seal(box: Box, { metadata, data }: Payload): Payload {
  const fields = Object.entries(metadata ?? {}).map(([name, value]) => [name, bytes.decode(value)]);
  const head = text.encode(JSON.stringify(Object.fromEntries(fields)));
  const body = data ?? new Uint8Array();
  const plain = new Uint8Array(4 + head.length + body.length);
  new DataView(plain.buffer).setUint32(0, head.length);
  plain.set(head, 4);
  plain.set(body, 4 + head.length);
  const { key_id, nonce, content } = box.seal(plain, CONTEXT);
  return {
    metadata: {
      encoding: text.encode(ENCODING),
      "trackside-key": text.encode(key_id),
      "trackside-nonce": nonce,
    },
    data: content,
  };
}

function open(box: Box, payload: Payload): Payload {
  const { encoding, "trackside-key": key, "trackside-nonce": nonce } = payload.metadata ?? {};
  if (!encoding || bytes.decode(encoding) !== ENCODING || !key || !nonce) return payload;
  const plain = box.open(
    { key_id: bytes.decode(key), nonce, content: payload.data ?? new Uint8Array() },
    CONTEXT,
  );
  const length = new DataView(plain.buffer, plain.byteOffset).getUint32(0);
  const fields = JSON.parse(bytes.decode(plain.subarray(4, 4 + length))) as Record<string, string>; // as `seal` wrote them
  const metadata = Object.entries(fields).map(([name, value]) => [name, text.encode(value)]);
  return { metadata: Object.fromEntries(metadata), data: plain.subarray(4 + length) };
}
