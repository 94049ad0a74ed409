import {
  type Definition,
  edgesOf,
  type NodeDraft,
  PORT_WORDS,
  PORTS,
  type Port,
  portOf,
  titleOf,
} from "./definition.ts";

/** What it is made of is known where an agent or tool was picked by its name. */
export function named(node: NodeDraft, name: string | undefined): NodeDraft {
  if (name === undefined) return node;
  switch (node.kind) {
    case "agent":
      return { ...node, agent: name };
    case "tool":
      return { ...node, tool: name };
    case "workflow":
      return { ...node, workflow: name };
    default:
      return node;
  }
}

/** The first way out that leads nowhere yet; `failed` only if somebody asks for it. */
export function freePort(definition: Definition, id: string, { kind }: NodeDraft): Port | undefined {
  const used = new Set(
    edgesOf(definition)
      .filter(({ from }) => from === id)
      .map(portOf),
  );
  const usual = PORTS[kind].filter((port) => port !== "failed");
  return usual.find((port) => !used.has(port)) ?? usual[0];
}

export function afterWords(definition: Definition, id: string, port: Port): string {
  const title = titleOf(id, definition.nodes[id]);
  return port === "out" ? `It comes after ${title}.` : `It comes after ${title}, when ${PORT_WORDS[port]}.`;
}
