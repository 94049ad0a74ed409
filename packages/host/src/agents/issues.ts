import type { ConfigIssue } from "trackside";
import { issue } from "trackside/engine";

export type { ConfigIssue } from "trackside";

/** A problem of a definition, told as all others are (A3). */
export const issueAt: (path: string, given: unknown, allowed: string) => ConfigIssue = issue;

const PLACES: readonly (readonly [RegExp, string])[] = [
  [/^tools\[\d+\]$/, "the tool"],
  [/^hitl_tools\[\d+\]$/, "the tool"],
  [/^rails\[\d+\]\.use$/, "the rail"],
  [/^hooks\..+\.use$/, "the hook"],
  [/^mcp_servers\[\d+\]\.name$/, "the MCP server"],
  [/^(model|planning_model|fallback_models\[\d+\])$/, "the model"],
];

/** The same problems of a definition that was sound once: what is there no more, by name. */
export function lacking(issues: readonly ConfigIssue[]): readonly string[] {
  const named = issues.map(({ path, given, message }) => {
    const [, what] = PLACES.find(([place]) => place.test(path)) ?? [];
    return what === undefined ? message : `${what} ${given}`;
  });
  return [...new Set(named)];
}
