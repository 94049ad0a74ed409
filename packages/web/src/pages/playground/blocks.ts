/** A definition of a link or a footnote belongs to the whole text. */
const DEFINITION = /^ {0,3}\[[^\]]+\]:/m;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** What goes on with the block before it: indented lines, items, quotes, tables. */
const GOES_ON = /^(\s|[-*+>|]|\d+[.)]\s)/;

/**
 * Markdown in pieces that can be read one by one: while an answer is written only its last piece changes, so a long one
 * stays cheap. Cut only at empty lines before a block that stands for itself.
 */
export function blocksOf(text: string): string[] {
  if (DEFINITION.test(text)) return [text];
  const blocks: string[] = [];
  let lines: string[] = [];
  let fence: string | undefined;
  let isAfterGap = false;
  for (const line of text.split("\n")) {
    const mark = FENCE.exec(line)?.[1];
    if (isAfterGap && fence === undefined && line !== "" && !GOES_ON.test(line)) {
      blocks.push(lines.join("\n"));
      lines = [];
    }
    if (mark !== undefined && fence === undefined) fence = mark;
    else if (
      mark !== undefined &&
      fence !== undefined &&
      line.trim().startsWith(fence) &&
      line.trim() === mark
    )
      fence = undefined;
    isAfterGap = line.trim() === "";
    lines.push(line);
  }
  blocks.push(lines.join("\n"));
  return blocks.filter((block) => block.trim() !== "");
}
