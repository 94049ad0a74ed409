import type { ReactNode } from "react";
import { useTitle } from "../title.ts";
import { cx } from "./class-names.ts";

export interface PageProps {
  title: string;
  /** Shown in place of the title, where it is more than a text; the title still names the tab. */
  heading?: ReactNode;
  /** Beside the title: buttons. */
  actions?: ReactNode;
  /** Under the title: where this is, or the one line that answers the page's question. */
  lead?: ReactNode;
  /** The page fills the window and scrolls inside: transcripts, long lists. */
  fill?: boolean;
  children: ReactNode;
}

/** The frame of every page: its title, its actions, and what is in it. */
export function Page({ title, heading, actions, lead, fill = false, children }: PageProps) {
  useTitle(title);
  return (
    <div
      className={cx("mx-auto flex w-full max-w-360 min-w-0 flex-col px-4 md:px-6", fill && "h-full min-h-0")}
    >
      <header className="flex min-h-14 flex-wrap items-center justify-between gap-x-4 gap-y-2 py-2">
        <div className="min-w-0">
          <h1 className="min-w-0 text-xl font-semibold break-words">{heading ?? title}</h1>
          {lead && <div className="text-muted">{lead}</div>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      <div className={cx("min-w-0", fill ? "flex min-h-0 flex-1 flex-col" : "pb-6")}>{children}</div>
    </div>
  );
}
