import { Agent, todoTools } from "trackside";
import { hostileEngine, scriptedModel } from "trackside/testing";
import { expect, test } from "vitest";

const todos = [
  { content: "Look", status: "completed" },
  { content: "Fix", status: "in_progress" },
];

test.each([
  ["the local engine", undefined],
  ["the hostile world", hostileEngine()],
])("the model's list of things to do is in the conversation, on %s", async (_name, engine) => {
  const write = { calls: [{ tool: "todo_write", args: { todos } }] };
  const read = { calls: [{ tool: "todo_read" }] };
  const model = scriptedModel([read, write, "Written.", read, "Read."]);
  const agent = new Agent({ name: "a", model, tools: [...todoTools()] });
  const options = engine === undefined ? {} : { engine };
  const first = await agent.run("Plan it.", options);
  expect(results(first)).toEqual([
    { todos: [], open: 0 },
    { todos, open: 1 },
  ]);
  const second = await agent.run("Where were you?", { ...options, conversation: first.conversation });
  expect(results(second)).toEqual([{ todos, open: 1 }]);
});

test("a list that is none is told to the model", async () => {
  const model = scriptedModel([
    { calls: [{ tool: "todo_write", args: { todos: [{ content: "", status: "later" }] } }] },
    "Sorry.",
  ]);
  const { messages } = await new Agent({ name: "a", model, tools: [...todoTools()] }).run("Plan it.");
  expect(JSON.stringify(messages[2])).toContain("tool_arguments_invalid");
});

function results({ messages }: { messages: readonly { role: string }[] }): unknown[] {
  return messages.flatMap((message) =>
    "output" in message ? [(message.output as { value: unknown }).value] : [],
  );
}
