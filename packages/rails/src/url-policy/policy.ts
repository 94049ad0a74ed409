import { decodeTarget, unescapeTarget } from "./decode.ts";
import { type HostList, plainHost } from "./hosts.ts";

export interface UrlPolicy {
  readonly links: HostList;
  readonly images: HostList;
  readonly schemes: ReadonlySet<string>;
}

/** Schemes whose addresses begin with a host, however many slashes are written. */
const WITH_HOST: readonly string[] = ["http", "https", "ftp", "ws", "wss"];

/** What ends the part of an address that names the host. */
const AUTHORITY_END = /[\s/\\?#<>"`]/;
const AUTHORITY = /^[^\s/\\?#<>"`]*/;
/** The host at the start of an authority, and a port. What follows is punctuation of the text around. */
const HOST = /^((?:[A-Za-z0-9._~%-]|[^\0-\u007f])+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?(?![A-Za-z0-9])/;

/** Whether an authority, all that stands between the slashes, leads to a host of the list. */
export function leadsToListed(authority: string, hosts: HostList): boolean {
  if (authority.includes("@")) return false; // a user's name is how another host is made to look like a listed one
  const [, written] = HOST.exec(authority) ?? [];
  const host = written === undefined ? undefined : plainHost(written.replace(/[._~]+$/, ""));
  return host !== undefined && hosts(host);
}

/** A target with a scheme or a host. */
export const ABSOLUTE = /^(?:[A-Za-z][A-Za-z0-9+.-]*:|[/\\]{2})/;

/** Whether the beginning of an absolute target names all of its host. */
export function namesHost(beginning: string): boolean {
  if (/[&\\]|[^!-~]/.test(beginning)) return false; // it may read differently once it is decoded
  const [head = ""] = /^(?:[A-Za-z][A-Za-z0-9+.-]*:)?\/*/.exec(beginning) ?? [];
  return ABSOLUTE.test(beginning) && AUTHORITY_END.test(beginning.slice(head.length));
}

/** Whether a link's target may stand. It must, in every way a renderer might read it. */
export function targetAllowed(target: string, policy: UrlPolicy, image: boolean): boolean {
  const decoded = decodeTarget(target);
  return [decoded, unescapeTarget(decoded)].every((read) => readingAllowed(read, policy, image));
}

/** What browsers drop. */
const DROPPED = /[\0-\u0020\u007f-\u00a0\u200b-\u200f\u2060\ufeff]/g;

/** No scheme, and not two slashes. */
const RELATIVE = /^(?:[A-Za-z][A-Za-z0-9+.-]*[^A-Za-z0-9+.:-]|[^A-Za-z/\\]|[/\\][^/\\])/;

/** Whether a target stays on the same site whatever follows its first characters. */
export function isRelative(beginning: string): boolean {
  const decoded = decodeTarget(beginning.replace(/&[^;]{0,9}$/, "").replace(/\\$/, ""));
  return [decoded, unescapeTarget(decoded)].every((read) => RELATIVE.test(read.replaceAll(DROPPED, "")));
}

function readingAllowed(target: string, { links, images, schemes }: UrlPolicy, image: boolean): boolean {
  const address = target.replaceAll(DROPPED, "");
  const [, name] = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(address) ?? [];
  const scheme = name?.toLowerCase();
  if (scheme !== undefined && !schemes.has(scheme)) return false;
  const rest = scheme === undefined ? address : address.slice(scheme.length + 1);
  const slashes = /^[/\\]*/.exec(rest)?.[0].length ?? 0;
  if (scheme === undefined && slashes < 2) return true; // a place on the same site
  if (scheme !== undefined && slashes < 2 && !WITH_HOST.includes(scheme)) return true; // mailto and the like, if listed
  const [authority = ""] = AUTHORITY.exec(rest.slice(slashes)) ?? [];
  return leadsToListed(authority, image ? images : links);
}
