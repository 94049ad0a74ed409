import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { cx } from "./class-names.ts";
import { CodeBlock } from "./code-block.tsx";
import { type Icon, LockIcon, RetryIcon, WarningIcon } from "./icons.tsx";

/** Nothing here yet: what this is, one button, one line of code. */
export function Empty(props: {
  title: string;
  children?: ReactNode;
  action?: ReactNode;
  code?: string;
  icon?: Icon;
}) {
  const { title, children, action, code, icon: EmptyIcon } = props;
  return (
    <div className="mx-auto flex max-w-120 flex-col items-center gap-3 px-4 py-12 text-center">
      {EmptyIcon && <EmptyIcon width={24} height={24} className="text-faint" />}
      <h2 className="text-lg font-semibold">{title}</h2>
      {children && <div className="text-muted">{children}</div>}
      {action}
      {code && <CodeBlock code={code} className="w-full text-left" />}
    </div>
  );
}

/** The shape of what comes. `rows` for lists, `lines` for text, `plot` for a chart, `form` for fields. */
export function Loading({
  shape = "rows",
  count = 8,
}: {
  shape?: "rows" | "lines" | "plot" | "form";
  count?: number;
}) {
  const items = Array.from({ length: shape === "plot" ? 1 : count }, (_, at) => at);
  return (
    <div aria-busy="true" className="w-full">
      <p role="status" className="sr-only">
        Loading
      </p>
      {items.map((at) => (
        <div key={at} aria-hidden="true">
          {shape === "rows" && (
            <div className="row flex items-center gap-4 border-b border-line px-3">
              <div className="skeleton h-4 w-20" />
              <div className={cx("skeleton h-3 flex-1", at % 3 === 0 ? "max-w-80" : "max-w-56")} />
              <div className="skeleton h-3 w-16" />
            </div>
          )}
          {shape === "lines" && (
            <div
              className={cx("skeleton my-2 h-3", at % 4 === 3 ? "w-1/2" : at % 2 ? "w-11/12" : "w-full")}
            />
          )}
          {shape === "plot" && <div className="skeleton h-48 w-full" />}
          {shape === "form" && (
            <div className="mb-4">
              <div className="skeleton mb-2 h-3 w-24" />
              <div className="skeleton h-8 w-full max-w-120" />
            </div>
          )}
        </div>
      ))}
    </div>
  );
}

export interface ErrorStateProps {
  /** What did not work: "Runs could not be loaded". */
  what: string;
  /** Why, as the server says it. */
  why?: ReactNode;
  /** What to do about it. */
  next?: ReactNode;
  retry?: (() => void) | undefined;
  retrying?: boolean;
}

export function ErrorState({ what, why, next, retry, retrying }: ErrorStateProps) {
  return (
    <div role="alert" className="mx-auto flex max-w-120 flex-col items-start gap-2 px-4 py-10">
      <h2 className="flex items-center gap-2 text-lg font-semibold">
        <WarningIcon className="text-red" />
        {what}
      </h2>
      {why && <p className="break-words text-ink">{why}</p>}
      {next && <p className="text-muted">{next}</p>}
      {retry && (
        <Button icon={RetryIcon} onClick={retry} pending={retrying ?? false}>
          Retry
        </Button>
      )}
    </div>
  );
}

/** Says who can, not just that you cannot. */
export function NoPermission({ what, who = "An admin" }: { what: string; who?: string }) {
  return (
    <div className="mx-auto flex max-w-120 flex-col items-start gap-2 px-4 py-10">
      <h2 className="flex items-center gap-2 text-lg font-semibold">
        <LockIcon />
        You may not {what}
      </h2>
      <p className="text-muted">{who} can, and can give you the role for it in Settings, Users.</p>
    </div>
  );
}
