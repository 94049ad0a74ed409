import { createServer, type RequestListener, type Server } from "node:http";
import { isIP } from "node:net";
import { onTestFinished } from "vitest";
import type { Address, Lookup } from "../../src/net/url-policy.ts";
import { ZONE } from "./payloads.ts";

export function addressesOf(answers: readonly string[]): readonly Address[] {
  return answers.map((address) => ({ address, family: isIP(address) === 6 ? 6 : 4 }));
}

/** A resolver that knows the zone and nothing else. */
export const fakeDns: Lookup = async (name) => {
  const answers = Object.hasOwn(ZONE, name) ? ZONE[name] : undefined;
  if (answers === undefined)
    throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: "ENOTFOUND" });
  return addressesOf(answers);
};

/** A server on loopback, gone when the test is over. */
export async function serverOf(
  listener: RequestListener,
): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a port was asked for");
  return { port: address.port, server };
}
