/** What the agents of the demo know how to do. */
const SUGGESTIONS: Readonly<Record<string, readonly string[]>> = {
  "release-manager": ["Release checkout 2.14"],
  "on-call": ["Is anything wrong right now?", "Why is checkout slow?", "Open an incident for checkout"],
};

export function suggestionsFor(agent: string): readonly string[] {
  return SUGGESTIONS[agent] ?? [];
}
