import { expect, test } from "vitest";
import { attachmentProblem, base64, MOST_BYTES, partsOf, pictureOf } from "./attachments.ts";
import { blocksOf } from "./blocks.ts";

test("paragraphs stand for themselves; code, lists and what belongs to them stay together", () => {
  expect(blocksOf("one\n\ntwo")).toHaveLength(2);
  expect(blocksOf("```\na\n\nb\n```\n\nafter")).toEqual(["```\na\n\nb\n```\n", "after"]);
  expect(blocksOf("- a\n\n- b\n\n  more of b")).toHaveLength(1);
  expect(blocksOf("1. a\n\n2. b")).toHaveLength(1);
  expect(blocksOf("[a][x]\n\n[x]: https://example.org")).toHaveLength(1);
});

test("while a text grows, all blocks but the last two stay as they are", () => {
  const text =
    "A paragraph.\n\n```js\nlet a;\n\nlet b;\n```\n\nAnother one.\n\n# A heading\n\n- a\n- b\n\nThe end.";
  const whole = blocksOf(text);
  for (let end = 1; end < text.length; end += 1) {
    const blocks = blocksOf(text.slice(0, end));
    expect(whole.slice(0, Math.max(0, blocks.length - 2))).toEqual(blocks.slice(0, -2));
  }
});

test("files are sent by value below a limit, and the limit is told", () => {
  expect(attachmentProblem([], [{ name: "a.png", size: 10 }])).toBeUndefined();
  expect(attachmentProblem([{ bytes: MOST_BYTES }], [{ name: "a.png", size: 10 }])).toMatch(/20 MB together/);
  expect(attachmentProblem([], [{ name: "a.png", size: 0 }])).toBe("a.png is empty.");
  const bytes = new Uint8Array(20_000).map((_, at) => at % 256);
  expect(base64(bytes)).toBe(Buffer.from(bytes).toString("base64"));
});

test("pictures that came along are shown; addresses and drawings with scripts are not", () => {
  const [, file] = partsOf("see", [
    { id: "1", name: "a.png", mediaType: "image/png", bytes: 1, data: "AA==" },
  ]);
  if (file?.type !== "file") throw new Error("a file was expected");
  expect(pictureOf(file)).toBe("data:image/png;base64,AA==");
  expect(pictureOf({ ...file, media_type: "image/svg+xml" })).toBeUndefined();
  expect(pictureOf({ ...file, source: { kind: "url", url: "https://example.org/a.png" } })).toBeUndefined();
});
