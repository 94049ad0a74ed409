import type { Ref } from "react";
import { plural } from "../../../format/number.ts";
import { WarningIcon } from "../../../ui/icons.tsx";
import { type Issue, withoutPath } from "../../agents/draft/issues.ts";

/** Everything that is wrong, each a way to its node and field. */
export function ProblemList({
  issues,
  reason,
  onGo,
  ref,
}: {
  issues: readonly Issue[];
  /** Why saving failed where no field is to blame. */
  reason: string | undefined;
  onGo(path: string): void;
  ref: Ref<HTMLElement>;
}) {
  if (issues.length === 0 && reason === undefined) return null;
  return (
    <section
      ref={ref}
      tabIndex={-1}
      aria-label="Problems"
      className="shrink-0 border-t border-red bg-red-soft px-3 py-1.5"
    >
      <p className="flex items-center gap-2 text-sm font-medium text-red">
        <WarningIcon width={14} height={14} />
        {issues.length > 0 ? `${plural(issues.length, "problem")} to solve before saving` : "Not saved"}
      </p>
      {reason !== undefined && <p className="mt-1 text-sm break-words">{reason}</p>}
      {issues.length > 0 && (
        <ul className="mt-1 flex max-h-24 flex-col gap-0.5 overflow-y-auto">
          {issues.map((issue) => (
            <li key={`${issue.path} ${issue.message}`} className="flex min-w-0 gap-2">
              <button
                type="button"
                onClick={() => onGo(issue.path)}
                className="shrink-0 font-mono text-xs leading-5 text-red underline"
              >
                {issue.path}
              </button>
              <span className="min-w-0 text-sm break-words">{withoutPath(issue)}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
