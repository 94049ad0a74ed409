import { TracksideError } from "trackside";

/** One address of a name. */
export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/** All addresses of a name. */
export type Lookup = (name: string) => Promise<readonly Address[]>;

/** Where requests may go that people ask for, and how much may come back. */
export interface UrlPolicy {
  /**
   * What may be reached though it is not on the public internet: `host:port`, or `host:*` for every port. The host is a name
   * or an address: `127.0.0.1:11434`, `[::1]:8080`, `ollama.internal:*`.
   */
  readonly allow?: readonly string[];
  /** How long names and connections may take. Default: 10 s. */
  readonly connectMs?: number;
  /** How long nothing may come. Default: 5 minutes, as a model may think that long. */
  readonly idleMs?: number;
  /** How long the whole answer may take; `Infinity` for streams that stay open. Default: 15 minutes. */
  readonly totalMs?: number;
  /** How many bytes may come back, unpacked. Default: 32 MB. */
  readonly maxBytes?: number;
  /** How names are resolved. Default: as the system does it. */
  readonly lookup?: Lookup;
}

const ENTRY = /^(\[[^\]]*\]|[^:[\]]+):(\d{1,5}|\*)$/;

/** Whether what people ask for is one of those a policy allows. */
export type Allowed = (host: string, port: number) => boolean;

/** Reads a policy's list, once. */
export function allowedBy({ allow = [] }: UrlPolicy): Allowed {
  const entries = new Set(allow.map(canonical));
  return (host, port) => entries.has(`${host}:${port}`) || entries.has(`${host}:*`);
}

function canonical(entry: string): string {
  const [, host, port] = ENTRY.exec(entry) ?? [];
  const parsed = host === undefined ? null : URL.parse(`http://${host}/`);
  if (parsed === null || port === undefined || (port !== "*" && Number(port) > 65_535)) {
    const given = JSON.stringify(entry.slice(0, 80));
    const allowed = 'a host and a port, such as "127.0.0.1:11434" or "models.internal:*", expected';
    throw new TracksideError("config_invalid", `allow: ${allowed}, ${given} given.`);
  }
  return `${bare(parsed.hostname)}:${port === "*" ? port : Number(port)}`;
}

/** An IPv6 address as resolvers write it, without the brackets of URLs. */
export function bare(hostname: string): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}
