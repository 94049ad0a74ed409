import { Agent, defineWorkflow } from "trackside";
import type { Scenario } from "../../support/scenario.ts";

/** Workflows: nodes beside each other, each with effects of its own, and runs below them. */
export const WORKFLOWS: readonly Scenario[] = [
  {
    name: "a workflow: branches, maps, an approval, a wait and a workflow inside",
    input: JSON.stringify({ items: ["a", "b"] }),
    ends: ["completed", "completed", "completed", "completed"],
    agent: (stage) => {
      const save = stage.tool("save", "idempotent");
      const inner = defineWorkflow({
        name: "inner",
        nodes: {
          wait: { kind: "wait", for: { seconds: 0.01 } },
          save: { kind: "tool", tool: save, arguments: { by: "{{ input.by }}" } },
        },
        edges: [{ from: "wait", to: "save" }],
        result: "{{ nodes.save }}",
      });
      const clerk = new Agent({ name: "clerk", model: stage.cast({ a: ["A"], b: ["B"] }) });
      return defineWorkflow({
        name: "outer",
        nodes: {
          replies: {
            kind: "map",
            over: "{{ input.items }}",
            do: { kind: "agent", agent: clerk, prompt: "{{ item }}" },
          },
          pays: {
            kind: "map",
            over: "{{ nodes.replies }}",
            do: {
              kind: "tool",
              tool: stage.tool("pay", "once", { takesMs: 10 }),
              arguments: { to: "{{ item }}", n: "{{ index }}" },
            },
          },
          ask: { kind: "approval", message: "Pay {{ input.items[0] }}?", show: { all: "{{ input.items }}" } },
          inside: { kind: "workflow", workflow: inner, input: { by: "{{ nodes.ask.decided_by }}" } },
          paid: {
            kind: "condition",
            if: { left: "{{ nodes.pays[1] }}", op: "contains", right: "pay" },
          },
          never: { kind: "tool", tool: save },
          end: {
            kind: "tool",
            // Its first try comes to nothing, before it has done anything.
            tool: stage.tool("send", "idempotent", { refuses: ({ callId }) => callId.includes(".end.1.") }),
            arguments: { pays: "{{ nodes.pays }}", inside: "{{ nodes.inside }}" },
            retry: { attempts: 2, delayMs: 5 },
            timeoutMs: 60_000,
          },
        },
        edges: [
          { from: "replies", to: "pays" },
          { from: "ask", to: "inside" },
          { from: "pays", to: "paid" },
          { from: "paid", to: "never", when: "false" },
          { from: "paid", to: "end", when: "true" },
          { from: "inside", to: "end" },
        ],
        result: { all: ["{{ nodes.replies }}", "{{ nodes.end }}", "{{ nodes.never? }}"] },
      });
    },
    decide: () => ({ choice: "approve", by: "ann" }),
  },
];
