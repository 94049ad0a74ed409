const MAX_NAME = 64;

/** Names of agents as names of tools: letters, digits, `_` and `-`, each once. */
export function toolNames(agents: readonly string[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const agent of agents) {
    const plain = agent.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, MAX_NAME) || "agent";
    let name = plain;
    for (let n = 2; names.has(name); n++) name = `${plain.slice(0, MAX_NAME - 4)}_${n}`;
    names.set(name, agent);
  }
  return names;
}
