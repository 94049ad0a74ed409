import type { Json, JsonObject } from "trackside/schema";

/** What is remembered, as it is sent. */
export interface Remember {
  match: "exact-arguments" | "tool";
  /** Unix ms; null lasts until it is revoked. */
  until: number | null;
  /** Keys of the run's scope that a later run has to share. */
  scope_keys: string[];
}

export interface RuleAbout {
  tool: string;
  agent: string;
  scope: JsonObject;
}

/** The rule in the words in which the server will list it, before it is made. */
export function ruleWords(
  effect: "approve" | "reject",
  { tool, agent, scope }: RuleAbout,
  { match, until, scope_keys }: Remember,
): string {
  const what = match === "tool" ? `every call of ${tool}` : `calls of ${tool} with exactly these arguments`;
  const keys = scope_keys.map((key) => `${key} ${JSON.stringify(scope[key])}`);
  const where = keys.length === 0 ? "" : `, for ${keys.join(" and ")}`;
  const when = until === null ? "until it is revoked" : `until ${new Date(until).toISOString()}`;
  return `${effect === "approve" ? "Approves" : "Rejects"} ${what} of ${agent}${where}, ${when}.`;
}

/** What a rule can be narrowed to: the run's own scope, without the tenant, which always counts. */
export function scopeChoices(scope: JsonObject): { key: string; label: string }[] {
  return Object.entries(scope)
    .filter(([key]) => key !== "tenant")
    .map(([key, value]) => ({ key, label: `${key} ${shown(value)}` }));
}

function shown(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
