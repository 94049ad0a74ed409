import { SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
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
  if (!alive || isBroken(error)) return told([`broke off during "${what}"`, ...symptoms].join("; "));
  if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult)
    return told(`answered "${what}" with something that is not a result: ${briefly(error)}`);
  return told(`answered "${what}" with an error: ${briefly(error)}`);
}

/** Whether the connection is of no more use. */
export function isBroken(error: unknown): boolean {
  const codes = [SdkErrorCode.ConnectionClosed, SdkErrorCode.NotConnected, SdkErrorCode.SendFailed];
  return error instanceof SdkError && codes.includes(error.code);
}

/** What an error says, on a line. */
export function briefly(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return cut(text.replace(/\s+/g, " "), MAX_REASON);
}
