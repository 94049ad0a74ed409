import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export type ChunkServer = {
  readonly origin: string;
  readonly bodies: string[];
  [Symbol.asyncDispose](): Promise<void>;
};

/** An HTTP server that answers each request with an event stream in exactly these chunks. */
export async function startChunkServer(
  chunksFor: (number: number, body: string) => Uint8Array[],
): Promise<ChunkServer> {
  const bodies: string[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part);
    const body = Buffer.concat(parts).toString();
    bodies.push(body);
    outgoing.writeHead(200, { "content-type": "text/event-stream" });
    // Each is a chunk of its own on the wire, and the client's parser hands each on by itself.
    for (const chunk of chunksFor(bodies.length - 1, body)) outgoing.write(chunk);
    outgoing.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // a string only for pipes
  return {
    origin: `http://127.0.0.1:${port}`,
    bodies,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Cuts bytes at random places, the same ones for the same seed. */
export function randomChunks(bytes: Uint8Array, seed: number): Uint8Array[] {
  // Mostly small pieces, so that characters and lines are split; one seed in four gives long ones.
  const longest = seed % 4 === 3 ? 400 : 24;
  let state = seed * 2654435761 + 1;
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const size = 1 + ((state >>> 8) % longest);
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}
