import type { ReactNode } from "react";
import { useTitle } from "../../title.ts";

/** The frame of a page that is a canvas: as wide and as high as the window. */
export function Frame({
  title,
  heading,
  lead,
  actions,
  children,
}: {
  title: string;
  heading?: ReactNode;
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  useTitle(title);
  return (
    <div className="flex h-full min-h-0 w-full min-w-0 flex-col">
      <header className="flex min-h-12 shrink-0 items-center justify-between gap-4 border-b border-line px-4 py-1.5 md:px-6">
        <div className="flex min-w-0 flex-wrap items-center gap-x-4">
          <h1 className="min-w-0 text-xl font-semibold break-words">{heading ?? title}</h1>
          {lead && <div className="text-muted">{lead}</div>}
        </div>
        {actions && <div className="flex shrink-0 items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}
