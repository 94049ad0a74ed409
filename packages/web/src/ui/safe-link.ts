const ALLOWED = new Set(["http:", "https:", "mailto:"]);

/**
 * The address if it may be linked to, else nothing: http, https and mailto, with nothing left out, since a path would
 * lead into our own pages and API. The parser of the browser decides what the scheme is: it also decides what a click does.
 */
export function safeLink(address: string | undefined | null): string | undefined {
  if (!address) return undefined;
  try {
    const url = new URL(address);
    return ALLOWED.has(url.protocol) ? address : undefined;
  } catch {
    return undefined;
  }
}

/** A path of ours to go to after sign-in, never another site: "/inbox/1?x=2", not "//evil", "/\evil" or "https:". */
export function samePath(path: unknown): string {
  if (typeof path !== "string" || !path.startsWith("/")) return "/";
  try {
    const origin = "https://trackside.invalid";
    const url = new URL(path, origin);
    if (url.origin !== origin) return "/";
    // Signing in must not end at the sign-in again.
    if (/^\/(sign-in|setup)(\/|$)/.test(url.pathname)) return "/";
    return url.pathname + url.search + url.hash;
  } catch {
    return "/";
  }
}
