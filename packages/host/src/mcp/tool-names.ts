import type { ServerDefinition } from "trackside/engine";

const MAX_NAME = 64;

/** Whether a definition wants a tool of that name: `include` first, then `exclude`; a `*` at the end stands for anything. */
export function isWanted(
  name: string,
  { include, exclude }: Pick<ServerDefinition, "include" | "exclude">,
): boolean {
  const listed = (patterns: readonly string[]) => patterns.some((pattern) => matches(name, pattern));
  return (include === undefined || listed(include)) && !listed(exclude ?? []);
}

function matches(name: string, pattern: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** The name a model calls a tool by, or why there is none. */
export function shownName(
  server: Pick<ServerDefinition, "name" | "rename">,
  name: string,
): { readonly name: string } | { readonly reason: string } {
  const renamed = Object.hasOwn(server.rename ?? {}, name) ? server.rename?.[name] : undefined;
  const shown = `mcp__${server.name}__${(renamed ?? name).replace(/[^A-Za-z0-9_-]/gu, "_")}`;
  if (shown.length <= MAX_NAME) return { name: shown };
  return {
    reason: `"${shown}" is longer than the ${MAX_NAME} characters that providers take; give it a shorter name in \`rename\``,
  };
}
