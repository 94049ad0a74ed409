import { useParams } from "@tanstack/react-router";
import { AgentPicker } from "./agent-picker.tsx";
import { Talk } from "./talk.tsx";

/** Without an agent: whom to talk to. With one: the conversation of the address, or a new one. */
export function PlaygroundPage() {
  const { agent } = useParams({ strict: false });
  return agent === undefined ? <AgentPicker /> : <Talk key={agent} agent={agent} />;
}
