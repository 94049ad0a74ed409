import type { Approval } from "trackside";

/** What happens on each choice and at the deadline, in words: nobody should have to guess before deciding. */
export function consequencesOf(approval: Approval): Record<string, string> {
  const said = Object.fromEntries(approval.choices.map((choice) => [choice, onChoice(choice, approval)]));
  return { ...said, timeout: onTimeout(approval) };
}

function onChoice(choice: string, { kind, tool }: Approval): string {
  const name = tool ?? "it";
  const known = WORDS[kind]?.[choice];
  return known === undefined ? `The run goes on with "${choice}".` : known.replaceAll("{tool}", name);
}

const WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  tool_call: {
    approve: "{tool} runs once, with exactly these arguments.",
    reject: "{tool} does not run. The model, or the node of a workflow, is told so, with your reason.",
  },
  client_tool: {
    submit: "The result you give goes to the model as the result of {tool}.",
    reject: "The model is told that {tool} was refused, with your reason, and goes on.",
  },
  unknown_outcome: {
    ran: "The result you give is taken as what {tool} returned. It does not run again.",
    run: "{tool} runs again, with the same arguments.",
    give_up: "The model is told that nobody knows what came of {tool}, and goes on.",
  },
  elicitation: {
    accept: "Your answer goes to the server that asked.",
    decline: "The server is told that you do not answer.",
  },
  workflow_node: {
    approve: "The workflow goes on after this node, with your answer as its output.",
    reject: "The node fails with your reason, or the workflow goes on by the node's own way for that.",
    submit: "The workflow goes on after this node, with what you give as its output.",
  },
  tool_definition: {
    approve: "{tool} may be used as it is defined now.",
    reject: "{tool} stays withheld from agents.",
  },
};

function onTimeout({ kind, tool, deadline }: Approval): string {
  if (deadline === null) return "It waits until somebody decides.";
  if (kind === "tool_call")
    return `${tool ?? "The call"} does not run. The model is told that nobody decided in time.`;
  if (kind === "workflow_node")
    return "The node fails because nobody decided in time, or the workflow goes on by the node's own way for that.";
  if (kind === "unknown_outcome") return "The model is told that nobody knows what came of it.";
  return "It counts as refused, and the run goes on.";
}
