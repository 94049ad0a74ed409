import type { Client } from "@modelcontextprotocol/client";
import { NO_TIMEOUT } from "./connection.ts";
import { CallDeadline } from "./deadline.ts";
import { explain, isBroken } from "./failure.ts";
import type { Lease } from "./lease.ts";
import type { Deadlines } from "./options.ts";

/** Asks a server something that is no call of a tool, within the same deadlines. */
export async function request<T>(
  lease: Lease,
  what: string,
  { signal }: { readonly signal: AbortSignal },
  deadlines: Deadlines,
  ask: (client: Client, options: { signal: AbortSignal; timeout: number }) => Promise<T>,
): Promise<T> {
  const connection = await lease.ready(signal);
  const deadline = new CallDeadline(deadlines, signal);
  try {
    return await ask(connection.client, { signal: deadline.signal, timeout: NO_TIMEOUT });
  } catch (error) {
    if (signal.aborted) throw signal.reason ?? error;
    const failure = explain(error, what, connection, deadline);
    if (deadline.expired !== undefined) connection.doubt();
    if (isBroken(error)) void connection.close();
    throw failure;
  } finally {
    deadline.end();
  }
}
