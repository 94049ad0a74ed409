import type { IncomingMessage } from "node:http";
import { type Duplex, pipeline } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { TracksideError } from "trackside";

const UNPACK: Readonly<Record<string, () => Duplex>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** What unpacks an answer; undefined where it is not packed, or in a way that is not known: then it stays as it is. */
export function unpackerOf(response: IncomingMessage): (() => Duplex) | undefined {
  const coding = (response.headers["content-encoding"] ?? "").trim().toLowerCase();
  return Object.hasOwn(UNPACK, coding) ? UNPACK[coding] : undefined;
}

/**
 * The body of an answer, unpacked, until it is larger than it may be: what is packed small and unpacks to much more counts
 * as that. `touched` hears of everything that comes, `over` of the end; `failed` says what an error is for the reader.
 */
export function boundedBody(
  response: IncomingMessage,
  maxBytes: number,
  on: {
    readonly touched: () => void;
    readonly over: () => void;
    readonly failed: (error: unknown) => unknown;
  },
): ReadableStream<Uint8Array> {
  const unpack = unpackerOf(response)?.();
  // A failure on either side ends the other; the reader hears of it from the one it reads.
  const source = unpack === undefined ? response : pipeline(response, unpack, () => {});
  response.on("error", () => {}); // whoever reads hears of it; nobody may be reading
  const chunks = source.iterator();
  let bytes = 0;
  const finish = () => {
    on.over();
    response.destroy();
    unpack?.destroy();
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await chunks.next();
          if (done === true) {
            finish();
            controller.close();
            return;
          }
          on.touched();
          bytes += value.byteLength;
          if (bytes > maxBytes)
            throw new TracksideError(
              "response_too_large",
              `The answer has more than ${maxBytes} bytes, which are allowed.`,
            );
          controller.enqueue(value);
        } catch (error) {
          const reason = on.failed(error);
          finish();
          controller.error(reason);
        }
      },
      cancel: finish,
    },
    { highWaterMark: 0 },
  );
}
