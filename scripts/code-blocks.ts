/** How a block is meant: run as a program, only type-checked, or shown as a fragment that stands in no file. */
export type Use = "run" | "type-only" | "no-run";

export interface CodeBlock {
  line: number;
  use: Use;
  code: string;
}

/** The TypeScript blocks of a Markdown text: ```ts runs, ```ts type-only and ```ts no-run do not. */
export function codeBlocks(markdown: string, path: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { fence: string; block: CodeBlock | undefined; lines: string[] } | undefined;
  for (const [index, line] of markdown.split("\n").entries()) {
    const fence = /^ {0,3}(`{3,})(.*)$/.exec(line);
    if (open && fence?.[1]?.startsWith(open.fence) && fence[2]?.trim() === "") {
      if (open.block) blocks.push({ ...open.block, code: open.lines.join("\n") });
      open = undefined;
    } else if (open) open.lines.push(line);
    else if (fence?.[1]) {
      const use = useOf(fence[2] ?? "", `${path}:${index + 1}`);
      open = { fence: fence[1], block: use && { line: index + 1, use, code: "" }, lines: [] };
    }
  }
  if (open?.block) throw new Error(`${path}:${open.block.line} this block is never closed`);
  return blocks;
}

function useOf(info: string, place: string): Use | undefined {
  const [language = "", use = "run", ...more] = info.trim().split(/\s+/);
  if (!["ts", "typescript", "tsx"].includes(language)) return undefined;
  if (language === "ts" && more.length === 0 && (use === "run" || use === "type-only" || use === "no-run"))
    return use;
  // A misspelt word would otherwise quietly switch the check off.
  throw new Error(`${place} write \`\`\`ts, \`\`\`ts type-only or \`\`\`ts no-run, not \`\`\`${info.trim()}`);
}
