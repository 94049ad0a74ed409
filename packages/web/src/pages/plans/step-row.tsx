import { Link } from "@tanstack/react-router";
import { type ReactNode, useId } from "react";
import { Button, IconButton } from "../../ui/button.tsx";
import { cx } from "../../ui/class-names.ts";
import {
  CheckIcon,
  ChevronDownIcon,
  ChevronRightIcon,
  CloseIcon,
  MoreIcon,
  PlayIcon,
  RetryIcon,
} from "../../ui/icons.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Duration, Time } from "../../ui/time.tsx";
import { StepBadge } from "./badges.tsx";
import { waitsFor } from "./draft.ts";
import type { Plan, Step } from "./types.ts";

export interface StepActions {
  /** Why nothing can be done now: the role, or a plan that is over. */
  readonly refused: string | undefined;
  readonly pending: string | undefined;
  run(step: Step): void;
  verify(step: Step): void;
  skip(step: Step): void;
}

/** One step: what it is and how it stands in a line; what came of it below, when asked for. */
export function StepRow({
  plan,
  step,
  at,
  isOpen,
  onToggle,
  actions,
}: {
  plan: Plan;
  step: Step;
  at: number;
  isOpen: boolean;
  onToggle(): void;
  actions: StepActions;
}) {
  const body = useId();
  const { state, title, verification, started_at, ended_at, reason } = step;
  const after = waitsFor(plan.steps, step.depends_on);
  return (
    <li className="border-b border-line last:border-b-0">
      <div className="flex items-start gap-2 px-2 py-1.5 md:px-3">
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={body}
          onClick={onToggle}
          className="flex min-h-8 min-w-0 flex-1 items-start gap-2 rounded-md text-left coarse:min-h-10"
        >
          <span className="mt-1.5 text-faint">{isOpen ? <ChevronDownIcon /> : <ChevronRightIcon />}</span>
          <span className="mt-1.5 w-5 shrink-0 text-right text-muted tabular-nums">{at + 1}</span>
          <span className="flex min-w-0 flex-1 flex-col gap-0.5 py-1.5">
            <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
              <span className="min-w-0 font-medium break-words">{title}</span>
              {after && <span className="text-xs text-muted">{after}</span>}
            </span>
            <span className="flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-muted">
              <StepBadge step={step} />
              <Progress step={step} />
              {state === "running" && started_at !== null && <Duration since={started_at} />}
              {state === "completed" && started_at !== null && ended_at !== null && (
                <Duration ms={ended_at - started_at} />
              )}
              {reason && state !== "completed" && <span className="min-w-0 break-words">{reason}</span>}
              {verification.verdict === "passed" && state === "completed" && <span>verified</span>}
            </span>
          </span>
        </button>
        <RowActions step={step} actions={actions} blocked={blockedBy(plan, step)} />
      </div>
      {isOpen && (
        <div id={body} className="px-3 pb-4 md:pl-14">
          <Evidence step={step} />
        </div>
      )}
    </li>
  );
}

function Progress({ step: { phase, stopping, run_status } }: { step: Step }) {
  if (stopping) return <span>stopping</span>;
  if (run_status === "waiting") return <span>its run waits for an approval</span>;
  return phase === "verify" ? <span>verifying</span> : null;
}

/** Why it cannot begin yet. */
function blockedBy({ steps }: Plan, { depends_on }: Step): string | undefined {
  const open = steps.filter(
    ({ id, state }) => depends_on.includes(id) && state !== "completed" && state !== "skipped",
  );
  return open.length === 0 ? undefined : `It comes after ${open.map(({ title }) => title).join(", ")}`;
}

function RowActions({
  step,
  actions,
  blocked,
}: {
  step: Step;
  actions: StepActions;
  blocked: string | undefined;
}) {
  const { state, title, verification, output } = step;
  const { refused, pending } = actions;
  const isRunning = state === "running";
  const main = state === "pending" ? "Run" : state === "failed" ? "Retry" : undefined;
  const isPending = pending === step.id;
  return (
    <span className="flex shrink-0 items-center gap-1 pt-0.5">
      {main && (
        <Button
          size="small"
          icon={main === "Run" ? PlayIcon : RetryIcon}
          disabled={(refused ?? blocked) !== undefined}
          title={refused ?? blocked}
          pending={isPending}
          aria-label={`${main} ${title}`}
          onClick={() => actions.run(step)}
        >
          {main}
        </Button>
      )}
      <Menu
        trigger={<IconButton icon={MoreIcon} label={`Actions on ${title}`} pending={isPending && !main} />}
        items={[
          ...(main === undefined
            ? [
                {
                  label: "Run again",
                  icon: RetryIcon,
                  disabled: (refused ?? blocked) !== undefined || isRunning,
                  hint: refused ?? (isRunning ? "It is running" : blocked),
                  run: () => actions.run(step),
                },
              ]
            : []),
          {
            label: "Verify again",
            disabled: refused !== undefined || isRunning || output === null || verification.criteria === "",
            hint:
              refused ??
              (verification.criteria === ""
                ? "It has no criteria"
                : output === null
                  ? "It has no output yet"
                  : undefined),
            run: () => actions.verify(step),
          },
          {
            label: "Skip",
            disabled: refused !== undefined || isRunning || state === "completed" || state === "skipped",
            hint: refused ?? "Those after it may run without it",
            run: () => actions.skip(step),
          },
        ]}
      />
    </span>
  );
}

/** What came of it, how it was judged, and the runs behind both. */
function Evidence({ step }: { step: Step }) {
  const { detail, output, cut, verification, run_id, by, ended_at, attempt } = step;
  return (
    <div className="flex flex-col gap-3">
      {detail.trim() !== "" && <p className="measure break-words whitespace-pre-wrap">{detail}</p>}
      {output !== null && (
        <Part title="Output">
          <div
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable with the keyboard
            tabIndex={0}
            className="max-h-96 overflow-auto rounded-md border border-line bg-panel px-3 py-2"
          >
            <Markdown text={output} />
            {cut && <p className="text-muted">It is longer: its run has the rest.</p>}
          </div>
        </Part>
      )}
      {verification.criteria !== "" && (
        <Part title="Verification">
          <p className="measure break-words whitespace-pre-wrap text-muted">{verification.criteria}</p>
          <p className="flex flex-wrap items-start gap-2">
            {verification.verdict === null ? (
              <span className="text-muted">{verification.detail ?? "Not judged yet."}</span>
            ) : (
              <>
                <Verdict passed={verification.verdict === "passed"} />
                <span className="measure min-w-0 break-words">{verification.detail}</span>
              </>
            )}
          </p>
        </Part>
      )}
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
        {run_id && (
          <Link to="/runs/$id" params={{ id: run_id }} className="text-accent underline">
            Its run
          </Link>
        )}
        {verification.run_id && (
          <Link to="/runs/$id" params={{ id: verification.run_id }} className="text-accent underline">
            Run of its verification
          </Link>
        )}
        {attempt > 1 && <span>attempt {attempt}</span>}
        {by && <span>by {by}</span>}
        {ended_at !== null && <Time at={ended_at} className="min-w-0!" />}
        {attempt === 0 && output === null && !by && <span>Not begun yet.</span>}
      </p>
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="flex flex-col gap-1">
      <h3 className="text-sm font-semibold">{title}</h3>
      {children}
    </div>
  );
}

function Verdict({ passed }: { passed: boolean }) {
  return (
    <span className={cx("inline-flex items-center gap-1 font-medium", passed ? "text-green" : "text-red")}>
      {passed ? <CheckIcon /> : <CloseIcon />}
      {passed ? "Passed" : "Not passed"}
    </span>
  );
}
