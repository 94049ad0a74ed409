/** The cookie that a session's secret is in. */
export interface SessionCookie {
  readonly name: string;
  readonly secure: boolean;
}

/**
 * Where it is https, browsers hold `__Host-` cookies to the rules themselves. Elsewhere the port is in the name: cookies
 * are shared by all ports of a machine, and two servers on one would sign each other's people out.
 */
export function sessionCookie(publicUrl: string, port: number): SessionCookie {
  const secure = publicUrl.startsWith("https:");
  return { name: secure ? "__Host-trackside" : `trackside_${port}`, secure };
}

export function readCookie({ name }: SessionCookie, header: string | null | undefined): string | undefined {
  for (const pair of (header ?? "").split(";")) {
    const at = pair.indexOf("=");
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** Sets it until `endsAt`, Unix ms; without a value it is taken away. */
export function writeCookie({ name, secure }: SessionCookie, value: string, endsAt: number): string {
  const expires = new Date(value === "" ? 0 : endsAt).toUTCString();
  return `${name}=${value}; Path=/; Expires=${expires}; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
}
