const encoder = new TextEncoder();
const KEEP_ALIVE_MS = 15_000;

export const SSE_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/** One server-sent event. JSON has no line breaks of its own. */
export function sse(data: unknown, event?: string): string {
  const name = event === undefined ? "" : `event: ${event}\n`;
  return `${name}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

/**
 * A stream of server-sent events. It is read at the client's pace: what a slow one has not taken stays in the store and on
 * the bus, never in memory here, and no run waits for it (E4). `onGone` is called when the client leaves before the end.
 */
export function sseResponse(
  source: AsyncIterable<string>,
  { headers = {}, onGone }: { headers?: Record<string, string>; onGone?: () => void } = {},
): Response {
  const iterator = source[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<string>> | undefined;
  let isOver = false;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        next ??= iterator.next();
        const pause = silence(KEEP_ALIVE_MS);
        const given = await Promise.race([next, pause.over]);
        pause.stop();
        if (isOver) return;
        if (given === undefined) {
          controller.enqueue(encoder.encode(": still here\n\n")); // proxies cut connections that say nothing
          return;
        }
        next = undefined;
        if (given.done) {
          isOver = true;
          controller.close();
        } else controller.enqueue(encoder.encode(given.value));
      },
      cancel() {
        if (isOver) return;
        isOver = true;
        onGone?.();
        // The reader behind it may be waiting: it ends when its signal does.
        void Promise.resolve(iterator.return?.()).catch(() => {});
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { ...SSE_HEADERS, ...headers } });
}

function silence(ms: number): { readonly over: Promise<undefined>; stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  return { over, stop: () => clearTimeout(timer) };
}
