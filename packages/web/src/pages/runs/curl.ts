/** A request to the public API as a line for a terminal. The token stays out of it: whoever pastes it has their own. */
export function asCurl(
  url: string,
  { method = "GET", body }: { method?: string; body?: unknown } = {},
): string {
  const parts = ["curl -sS", ...(method === "GET" ? [] : [`-X ${method}`])];
  parts.push('-H "Authorization: Bearer $TRACKSIDE_TOKEN"');
  if (body !== undefined)
    parts.push(`-H ${quoted("Content-Type: application/json")} -d ${quoted(JSON.stringify(body))}`);
  return [...parts, quoted(url)].join(" ");
}

/** For a POSIX shell: nothing inside single quotes means anything, but the quote itself. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
