import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterwards } from "./places.ts";

/**
 * What to do with a message that the client sends:
 * - `pass`
 * - `lose-request`: the connection breaks before the server sees it
 * - `lose-answer`: the server gets it and answers, and the connection breaks before the answer arrives
 * - `hang`: the client loses the connection, the server does not notice and never sees the message
 */
export type Fate = "pass" | "lose-request" | "lose-answer" | "hang";

export interface CutProxy {
  /** The database's URL, by way of the proxy. */
  readonly url: string;
  /** Decides over every message from now on. */
  decide(fate: (message: string) => Fate): void;
}

/** Stands between a store and its server and breaks connections at chosen messages. */
export async function cutProxy(target: string): Promise<CutProxy> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  let fate: (message: string) => Fate = () => "pass";

  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", () => undefined).on("close", () => open.delete(socket));
    }
    let losing = false;
    let hanging = false;
    client.on("data", (chunk) => {
      const decided = fate(chunk.toString("latin1"));
      if (decided === "lose-request") {
        client.destroy();
        upstream.destroy();
      } else if (decided === "hang") {
        hanging = true;
        client.destroy();
      } else {
        losing ||= decided === "lose-answer";
        upstream.write(chunk);
      }
    });
    upstream.on("data", (chunk) => {
      if (losing) {
        client.destroy();
        upstream.destroy();
      } else if (!hanging) client.write(chunk);
    });
    client.on("close", () => {
      if (!hanging) upstream.end();
    });
    upstream.on("close", () => client.destroy());
  });

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterwards(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port); // it listens on a port
  return {
    url: url.href,
    decide(next) {
      fate = next;
    },
  };
}
