import { memo } from "react";
import { Markdown } from "../../ui/markdown.tsx";
import { blocksOf } from "./blocks.ts";

const Block = memo(Markdown);

/** What the model wrote. Blocks that are complete are read once, however long the answer grows. */
export function AnswerText({ text }: { text: string }) {
  return (
    <div className="flex min-w-0 flex-col gap-2">
      {blocksOf(text).map((block, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: text only grows at its end
        <Block key={at} text={block} />
      ))}
    </div>
  );
}
