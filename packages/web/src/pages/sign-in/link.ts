/** The secret of a one-time link: `/sign-in#link=…`. Behind "#" it reaches no log and no Referer. */
export function linkInHash(hash = location.hash): string | undefined {
  return new URLSearchParams(hash.replace(/^#/, "")).get("link") || undefined;
}
