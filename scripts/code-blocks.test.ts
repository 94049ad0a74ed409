import { expect, test } from "vitest";
import { codeBlocks } from "./code-blocks.ts";

test("blocks come with their line, their use and their code", () => {
  const text =
    "# T\n\n```ts\na();\n\nb();\n```\n\n```ts no-run\nc\n```\n```bash\nls\n```\n```ts type-only\ntype D = 1\n```\n";
  expect(codeBlocks(text, "a.md")).toEqual([
    { line: 3, use: "run", code: "a();\n\nb();" },
    { line: 9, use: "no-run", code: "c" },
    { line: 15, use: "type-only", code: "type D = 1" },
  ]);
});

test("a block inside a longer fence is text", () => {
  expect(codeBlocks("````md\n```ts\na\n```\n````\n", "a.md")).toEqual([]);
});

test.each(["```ts norun", "```ts no-run later", "```typescript", "```tsx"])("%s is refused", (fence) => {
  expect(() => codeBlocks(`${fence}\na\n\`\`\`\n`, "a.md")).toThrow("a.md:1 write ```ts");
});

test("a block that is never closed is refused", () => {
  expect(() => codeBlocks("```ts\na\n", "a.md")).toThrow("a.md:1 this block is never closed");
});
