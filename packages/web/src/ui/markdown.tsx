import { lazy, Suspense } from "react";

const View = lazy(() => import("./markdown-view.tsx"));

/** Markdown of models and users. Until the reader for it is there, the text itself is. */
export function Markdown({ text }: { text: string }) {
  return (
    <Suspense fallback={<div className="measure break-words whitespace-pre-wrap">{text}</div>}>
      <View text={text} />
    </Suspense>
  );
}
