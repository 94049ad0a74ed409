import { lookup as systemLookup } from "node:dns/promises";
import { isIP } from "node:net";
import { TracksideError } from "trackside";
import { isPublicAddress } from "./public-address.ts";
import { type Address, type Allowed, allowedBy, bare, type Lookup, type UrlPolicy } from "./url-policy.ts";

/** A URL that may be asked, and the addresses it was found to lead to: those and no others are connected to. */
export interface CheckedUrl {
  readonly url: URL;
  readonly addresses: readonly Address[];
}

const MAX_LENGTH = 2048;

/** Names that lead inside: of this machine, of its network, or of the cloud it runs in. */
const INSIDE =
  /(^|\.)(localhost|localdomain|local|internal|intranet|lan|home|corp|private|metadata|metadata\.goog|instance-data|home\.arpa|in-addr\.arpa|ip6\.arpa)$/;

/** Ports at which something else than HTTP listens, as the Fetch standard has them: mail, shells, files, chats. */
const NOT_HTTP = new Set(
  (
    "0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 " +
    "135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 " +
    "995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080"
  )
    .split(" ")
    .map(Number),
);

const byTheSystem: Lookup = async (name) =>
  (await systemLookup(name, { all: true })).map(({ address, family }) => ({
    address,
    family: family === 6 ? 6 : 4,
  }));

/**
 * Checks a URL that somebody has entered: that it is one for HTTP, written plainly, and leads to the public internet or to
 * what the policy allows. Rejects with code `url_refused`, or `url_unresolved` when nobody knows the name.
 *
 * The answer holds for the addresses in it. Whoever asks the resolver again may get others: use `guardedFetch`.
 */
export async function checkUrl(given: string | URL, policy: UrlPolicy = {}): Promise<CheckedUrl> {
  return urlChecker(policy)(given);
}

/** The same for many URLs: the policy is read once. */
export function urlChecker(policy: UrlPolicy): (given: string | URL) => Promise<CheckedUrl> {
  const allowed = allowedBy(policy);
  const lookup = policy.lookup ?? byTheSystem;
  return async (given) => resolved(plainUrl(given), allowed, lookup);
}

/** The URL, if it is written so that everybody reads it the same. */
function plainUrl(given: string | URL): URL {
  const text = typeof given === "string" ? given : given.href;
  if (text.length > MAX_LENGTH)
    throw refused(`it has ${text.length} characters; at most ${MAX_LENGTH} are allowed`);
  // Parsers disagree about these, and where they do, one of them is fooled.
  if (/[\s\p{C}\\]/u.test(text)) throw refused("it holds a space, a control character or a backslash");
  const [, authority] = /^https?:\/\/([^/?#]*)/i.exec(text) ?? [];
  if (authority === undefined) throw refused("it does not begin with http:// or https://");
  const url = URL.parse(text);
  if (authority === "" || url === null || url.hostname.includes("..")) throw refused("it is no valid URL");
  if (authority.includes("@") || url.username !== "" || url.password !== "")
    throw refused("it holds a user name or password; give the key where keys are kept");
  if (authority.includes("%")) throw refused("its host is written with %-codes");
  const host = authority.replace(/:\d*$/, "").toLowerCase();
  if (isIP(url.hostname) === 4 && host !== url.hostname)
    throw refused(`its address is written in an unusual way; write ${url.hostname}`);
  if (url.hostname.endsWith(".")) throw refused("its host ends with a dot");
  return url;
}

async function resolved(url: URL, allowed: Allowed, lookup: Lookup): Promise<CheckedUrl> {
  const host = bare(url.hostname);
  const port = portOf(url);
  const welcome = allowed(host, port);
  const shown = JSON.stringify(url.hostname);
  if (!welcome && NOT_HTTP.has(port))
    throw refused(`port ${port} of ${shown} is one for other services than HTTP`);
  const family = isIP(host);
  if (family === 4 || family === 6) {
    if (!welcome && !isPublicAddress(host)) throw refused(`${shown} is not on the public internet`);
    return { url, addresses: [{ address: host, family }] };
  }
  // A name of the inside may still be one for an address that is allowed, as localhost is for 127.0.0.1. Whether there is
  // such a name is not told.
  const inside = !host.includes(".") || INSIDE.test(host);
  const addresses = await lookedUp(host, lookup).catch((error: unknown) => {
    if (welcome || !inside) throw error;
    return [];
  });
  const fine = ({ address }: Address) => allowed(address, port) || (!inside && isPublicAddress(address));
  if (!welcome && !(addresses.length > 0 && addresses.every(fine)))
    throw refused(`${shown} does not lead to the public internet`);
  return { url, addresses };
}

async function lookedUp(host: string, lookup: Lookup): Promise<readonly Address[]> {
  let addresses: readonly Address[] = [];
  let cause: unknown;
  try {
    addresses = await lookup(host);
  } catch (error) {
    cause = error;
  }
  if (addresses.length > 0) return addresses;
  const what = `Nobody knows an address of ${JSON.stringify(host)}`;
  throw new TracksideError(
    "url_unresolved",
    `${what}. Check the name, and that this machine can resolve names.`,
    {
      cause,
    },
  );
}

export function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}

/** It never repeats the URL: there may be a key in it. */
function refused(why: string): TracksideError {
  const next = "An operator can allow single hosts in the configuration.";
  return new TracksideError("url_refused", `The URL cannot be used: ${why}. ${next}`);
}
