import * as z from "zod";
import type { Json } from "../schema/json.ts";
import { once } from "../schema/once.ts";
import { defineTool, type Tool } from "./define-tool.ts";

const MAX_TODOS = 100;

const todoList = once(() =>
  z.object({
    todos: z
      .array(
        z.object({
          content: z.string().min(1).max(500).describe("What is to be done, in one line"),
          status: z.enum(["pending", "in_progress", "completed"]),
        }),
      )
      .max(MAX_TODOS)
      .describe("The whole list, in order: it takes the place of the one before"),
  }),
);

/**
 * A list of things to do that the model keeps for itself: `todo_write` and `todo_read`. The list is in the conversation's
 * log, so it outlives restarts, branches with it, and is still there after a compaction.
 *
 * @example
 * const agent = new Agent({ name: "builder", model, tools: [...todoTools(), deploy] });
 */
export function todoTools(): readonly [Tool<"todo_write">, Tool<"todo_read">] {
  const write = defineTool({
    name: "todo_write",
    description:
      "Writes your list of things to do. Use it for work of several steps: write the list first, keep one item in_progress " +
      "while you work on it, and mark it completed as soon as it is done.",
    input: todoList(),
    effect: "none",
    execute: ({ todos }) => ({ todos, open: todos.filter(({ status }) => status !== "completed").length }),
  });
  const read = defineTool({
    name: "todo_read",
    description: "Reads your list of things to do as you last wrote it.",
    effect: "none",
    execute: (_, { last }): Json => last("todo_write") ?? { todos: [], open: 0 },
  });
  return [write, read];
}
