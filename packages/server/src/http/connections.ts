import type { ServerResponse } from "node:http";

const connections = new WeakMap<Request, ServerResponse>();

/** Remembers what a request is answered on, so that a stream nobody reads can be cut off. */
export function keepConnection(request: Request, outgoing: ServerResponse): void {
  connections.set(request, outgoing);
}

export function dropConnection(request: Request): void {
  connections.get(request)?.destroy();
}
