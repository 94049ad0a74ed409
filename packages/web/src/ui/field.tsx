import { Field as Base } from "@base-ui/react/field";
import type { ReactNode } from "react";
import { cx } from "./class-names.ts";
import { WarningIcon } from "./icons.tsx";

export interface FieldProps {
  label: ReactNode;
  /** What the value does, in a line. */
  hint?: ReactNode;
  /** What is wrong with the value and what is allowed; stands beside the control and is read out with it. */
  problem?: ReactNode;
  /** Its path in the definition, like `budget.limit`: error summaries scroll to it. */
  name?: string;
  disabled?: boolean;
  /** The label is there for screen readers only. */
  hideLabel?: boolean;
  /** Beside the control instead of above it: switches. */
  inline?: boolean;
  /** After the label, like "optional" or a link. */
  aside?: ReactNode;
  className?: string;
  children: ReactNode;
}

/** Label, control, hint and problem. The controls of this folder find out by themselves whose they are. */
export function Field(props: FieldProps) {
  const { label, hint, problem, name, disabled, hideLabel, inline, aside, className, children } = props;
  const labelled = (
    <Base.Label className={cx("font-medium text-ink", hideLabel && "sr-only")}>{label}</Base.Label>
  );
  return (
    <Base.Root
      invalid={Boolean(problem)}
      {...(disabled !== undefined && { disabled })}
      data-field={name}
      className={cx("flex min-w-0 flex-col gap-1", className)}
    >
      {inline ? (
        <div className="flex min-h-8 items-center justify-between gap-3">
          {labelled}
          {children}
        </div>
      ) : (
        <>
          {(!hideLabel || aside) && (
            <div className="flex items-baseline justify-between gap-3">
              {labelled}
              {aside && <span className="text-xs text-faint">{aside}</span>}
            </div>
          )}
          {hideLabel && !aside && labelled}
          {children}
        </>
      )}
      {hint && <Hint>{hint}</Hint>}
      {problem && <Problem>{problem}</Problem>}
    </Base.Root>
  );
}

function Hint({ children }: { children: ReactNode }) {
  return <Base.Description className="measure text-xs text-muted">{children}</Base.Description>;
}

function Problem({ children }: { children: ReactNode }) {
  return (
    <Base.Error match={true} className="measure flex items-start gap-1 text-xs text-red">
      <WarningIcon width={12} height={12} className="mt-0.5 shrink-0" />
      <span>{children}</span>
    </Base.Error>
  );
}
