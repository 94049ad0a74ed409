import { type Client, SdkError } from "@modelcontextprotocol/client";
import { NO_TIMEOUT } from "./connection.ts";
import { CallDeadline } from "./deadline.ts";
import type { Lease } from "./lease.ts";
import type { Deadlines } from "./options.ts";
import { redact } from "./server-config.ts";
import { cut } from "./untrusted-json.ts";

/** Asks a server something that is no call of a tool, within the same deadlines. */
export async function request<T>(
  lease: Lease,
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
    if (deadline.expired !== undefined) connection.doubt();
    const said = deadline.expired ?? (error instanceof Error ? error.message : String(error));
    const symptoms = error instanceof SdkError && !connection.alive ? connection.symptoms : [];
    const told = [`The MCP server "${lease.config.name}" failed: ${said}`, ...symptoms].join("; ");
    throw new Error(redact(lease.config, cut(told, 4_000)), { cause: error });
  } finally {
    deadline.end();
  }
}
