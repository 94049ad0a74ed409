import { type CheckArgument, no, quoted, unclear, YES } from "./constraint.ts";
import { isPublic } from "./public-host.ts";

export interface HostLimits {
  /** Names, `*.example.com` for what is below one, `*` for any; with `:port` for that port alone. */
  readonly allow: readonly string[];
  /** Whether these may lead to loopback, private and link-local addresses too. */
  readonly private: boolean;
  readonly schemes: readonly string[];
}

interface Target {
  readonly scheme: string | undefined;
  readonly host: string;
  readonly port: string;
}

interface Pattern {
  readonly host: string;
  readonly below: boolean;
  readonly any: boolean;
  readonly port: string;
}

/**
 * Checks where a URL, or a bare `host` or `host:port`, leads. Addresses count however they are written (octal, hexadecimal,
 * one number, IPv4 inside IPv6); a URL that programs read differently is never taken for a yes. Names are not looked up:
 * what a name resolves to is up to whoever owns it, so list the names you trust.
 */
export function leadsTo(limits: HostLimits): CheckArgument {
  const patterns = limits.allow.map(readPattern);
  return (value) => {
    if (typeof value !== "string") return unclear(`is ${quoted(value)}, not a URL`);
    const target = readTarget(value);
    if (typeof target === "string") return unclear(`${quoted(value)} ${target}`);
    if (target.scheme !== undefined && !limits.schemes.includes(target.scheme))
      return unclear(`${quoted(value)} is not ${limits.schemes.join(" or ")}`);
    const listed = patterns.filter((pattern) => fits(target, pattern));
    const exactly = listed.some(({ any, below }) => !any && !below);
    if (!isPublic(target.host) && !exactly && !limits.private)
      return unclear(`${quoted(value)} leads to ${target.host}, which is not a public host`);
    return listed.length > 0
      ? YES
      : no(`${quoted(value)} leads to ${target.host}, not to ${limits.allow.join(" or ")}`);
  };
}

/** What is wrong with a pattern of the options. */
export function patternProblem(pattern: string): string | undefined {
  try {
    const { host, any } = readPattern(pattern);
    return any || host !== "" ? undefined : MEANT;
  } catch {
    return MEANT;
  }
}

const MEANT = 'a host such as "api.example.com", "*.example.com" or "localhost:8080"';

function readPattern(pattern: string): Pattern {
  if (pattern === "*") return { host: "", below: false, any: true, port: "" };
  const below = pattern.startsWith("*.");
  const name = below ? pattern.slice(2) : pattern;
  if (/[\s/\\@?#*]/.test(name)) throw new TypeError(MEANT);
  const [, port = ""] = /:(\d+)$/.exec(name.replace(/\[.*\]/, "")) ?? [];
  return { host: hostOf(new URL(`http://${name}`)), below, any: false, port };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const ODD = /[\u0000-\u0020\u007f-\u00a0\\]/;
const DEFAULT_PORTS: Readonly<Record<string, string>> = {
  http: "80",
  https: "443",
  ws: "80",
  wss: "443",
  ftp: "21",
};

/** Where a text leads, or why that cannot be said. */
function readTarget(text: string): Target | string {
  if (text === "") return "is empty";
  if (ODD.test(text)) return "has spaces, backslashes or control characters in it";
  const bare = !/^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  if (bare && !/^(?:[^/?#@:[\]]+|\[[0-9a-f:.]+\])(?::\d+)?$/i.test(text))
    return "is neither a URL nor a host";
  if (/^[^/]*:\/\/(?![^/?#])/.test(text)) return "names no host";
  let url: URL;
  try {
    url = new URL(bare ? `http://${text}` : text);
  } catch {
    return "is no valid URL";
  }
  if (url.username !== "" || url.password !== "" || /^[^/]*\/\/[^/?#]*@/.test(text))
    return "has a user name in it";
  const scheme = bare ? undefined : url.protocol.slice(0, -1);
  const host = hostOf(url);
  if (host === "") return "names no host";
  // The parser drops a port that is the scheme's own.
  const port = url.port || (bare ? (/:(\d+)$/.exec(text)?.[1] ?? "") : (DEFAULT_PORTS[scheme ?? ""] ?? ""));
  return { scheme, host, port };
}

/** The host as the URL standard writes it: addresses in one form, names in ASCII, no final dot. */
function hostOf(url: URL): string {
  if (url.host === "") return "";
  const { hostname } = new URL(`http://${url.host}`);
  return hostname.toLowerCase().replace(/\.$/, "");
}

function fits({ host, port }: Target, pattern: Pattern): boolean {
  if (pattern.any) return true;
  if (pattern.port !== "" && pattern.port !== port) return false;
  return pattern.below ? host.endsWith(`.${pattern.host}`) : host === pattern.host;
}
