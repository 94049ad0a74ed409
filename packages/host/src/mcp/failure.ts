import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client";
import type { Connection } from "./connection.ts";
import type { CallDeadline } from "./deadline.ts";
import { redact } from "./server-config.ts";
import { cut } from "./untrusted-json.ts";

const MAX_ERROR = 4_000;
const MAX_REASON = 500;

/** Why something asked of a server failed, in a sentence that names both. */
export function explain(error: unknown, what: string, connection: Connection, deadline: CallDeadline): Error {
  const { config, symptoms, alive } = connection;
  const told = (sentence: string) =>
    new Error(redact(config, cut(`The MCP server "${config.name}" ${sentence}`, MAX_ERROR)), {
      cause: error,
    });
  if (deadline.expired !== undefined) return told(`did not answer "${what}" in time: ${deadline.expired}`);
  if (!alive) return told([`broke off during "${what}"`, ...symptoms].join("; "));
  if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult)
    return told(`answered "${what}" with something that is not a result: ${briefly(error)}`);
  if (error instanceof ProtocolError) return told(`answered "${what}" with an error: ${briefly(error)}`);
  return told(`failed at "${what}": ${briefly(error)}`);
}

/** Whether the connection is of no more use: it broke, or the server does not know it any more. */
export function isBroken(error: unknown): boolean {
  if (error instanceof SdkHttpError) return error.status >= 400 && error.status < 500;
  if (error instanceof SdkError)
    return [SdkErrorCode.ConnectionClosed, SdkErrorCode.NotConnected, SdkErrorCode.SendFailed].includes(
      error.code,
    );
  return error instanceof TypeError && error.message === "fetch failed";
}

/** What an error says, on a line. */
export function briefly(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const cause = error instanceof TypeError && error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return cut((text + cause).replace(/\s+/g, " "), MAX_REASON);
}
