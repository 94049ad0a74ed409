import type { Problem } from "../contract/index.ts";

/** What a stream needs of the connection it is on, long after the handler has answered. */
export interface Connection {
  /** Cuts it off. */
  readonly drop: () => void;
  /** What a client is told of an error; the log is told the rest. */
  readonly problem: (error: unknown) => Problem;
}

const connections = new WeakMap<Request, Connection>();

export function keepConnection(request: Request, connection: Connection): void {
  connections.set(request, connection);
}

export function connectionOf(request: Request): Connection | undefined {
  return connections.get(request);
}
