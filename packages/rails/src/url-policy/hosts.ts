/** Whether a host is on a list: names as they are, `*.example.com` for everything below one, `*` for all. */
export type HostList = (host: string) => boolean;

/** How an entry is written. */
export const HOST_PATTERN = /^(?:\*|(?:\*\.)?[^\s/\\@?#*:]+)$/;

/** What is wrong with an entry, if anything. */
export function isHostPattern(pattern: string): boolean {
  return (
    HOST_PATTERN.test(pattern) && (pattern === "*" || plainHost(pattern.replace(/^\*\./, "")) !== undefined)
  );
}

export function hostList(patterns: readonly string[]): HostList {
  const exact = new Set<string>();
  const below: string[] = [];
  for (const pattern of patterns) {
    if (pattern === "*") return () => true;
    const host = plainHost(pattern.replace(/^\*\./, "")) ?? pattern;
    if (pattern.startsWith("*.")) below.push(`.${host}`);
    else exact.add(host);
  }
  return (host) =>
    exact.has(host) || below.some((suffix) => host.endsWith(suffix) && host.length > suffix.length);
}

const ORDINARY = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/;

/** A host as browsers read it: lower case, punycode, no final dot; undefined when it is none. */
export function plainHost(written: string): string | undefined {
  const lower = written.toLowerCase().replace(/\.$/, "");
  if (ORDINARY.test(lower)) return lower;
  return URL.parse(`http://${written}/`)?.hostname.replace(/\.$/, "") || undefined;
}
