import { type Definition, edgesOf, titleOf } from "../workflows/draft/definition.ts";
import { type Approval, isWait } from "./approval.ts";

type When = "rejected" | "failed" | undefined;

/** What happens on each choice at a node of a workflow and at its deadline: by the edges that lead on from it. */
export function nodeConsequences(
  workflow: Definition,
  node: string,
  approval: Pick<Approval, "kind" | "choices" | "deadline">,
): Readonly<Record<string, string>> {
  const answer = isWait(approval) ? "what you give" : "your answer";
  const isKnown = Object.hasOwn(workflow.nodes, node);
  if (!isKnown) return {};
  const forward = `The node is done, with ${answer} as its output. ${thenWords(workflow, node)}`;
  const refused = refusedWords(workflow, node);
  return {
    approve: forward,
    submit: forward,
    reject: refused("with your reason"),
    timeout:
      approval.deadline === null
        ? "It waits until somebody decides."
        : refused("because nobody decided in time"),
  };
}

function thenWords(workflow: Definition, node: string): string {
  const next = after(workflow, node, undefined);
  return next.length === 0 ? "Nothing follows it." : `Next: ${next.join(", ")}.`;
}

/** A node that is refused goes its rejected way, else its failed way, else the run fails of it. */
function refusedWords(workflow: Definition, node: string): (why: string) => string {
  const rejected = after(workflow, node, "rejected");
  if (rejected.length > 0) return (why) => `It takes its rejected edge ${why}. Next: ${rejected.join(", ")}.`;
  const failed = after(workflow, node, "failed");
  if (failed.length > 0)
    return (why) => `The node fails ${why} and takes its failed edge. Next: ${failed.join(", ")}.`;
  const lost = after(workflow, node, undefined);
  const skipped = lost.length === 0 ? "" : ` ${lost.join(", ")} ${lost.length === 1 ? "is" : "are"} skipped.`;
  return (why) => `The node fails ${why}.${skipped} What does not need it ends, then the run fails.`;
}

function after(workflow: Definition, node: string, when: When): string[] {
  return edgesOf(workflow)
    .filter((edge) => edge.from === node && edge.when === when)
    .map(({ to }) => titleOf(to, workflow.nodes[to]));
}
