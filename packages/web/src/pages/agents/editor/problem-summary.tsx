import type { RefObject } from "react";
import { plural } from "../../../format/number.ts";
import { WarningIcon } from "../../../ui/icons.tsx";
import { type Issue, withoutPath } from "../draft/issues.ts";

/** Everything that is in the way of saving, each a way to its field. */
export function ProblemSummary({
  issues,
  reason,
  onGo,
  ref,
}: {
  issues: readonly Issue[];
  /** Why saving failed where no field is to blame. */
  reason?: string | undefined;
  onGo(path: string): void;
  ref: RefObject<HTMLElement | null>;
}) {
  if (issues.length === 0 && reason === undefined) return null;
  return (
    <section
      ref={ref}
      tabIndex={-1}
      aria-label="Problems"
      className="mb-4 rounded-md border border-red bg-red-soft px-3 py-2"
    >
      <p className="flex items-center gap-2 font-medium text-red">
        <WarningIcon />
        {issues.length > 0 ? `${plural(issues.length, "problem")} to solve before saving` : "Not saved"}
      </p>
      {reason !== undefined && <p className="mt-1 break-words">{reason}</p>}
      {issues.length > 0 && (
        <ul className="mt-1 flex max-h-48 flex-col gap-0.5 overflow-y-auto">
          {issues.map((issue) => (
            <li key={`${issue.path} ${issue.message}`} className="flex min-w-0 gap-2">
              <button
                type="button"
                onClick={() => onGo(issue.path)}
                className="shrink-0 font-mono text-sm text-red underline"
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
