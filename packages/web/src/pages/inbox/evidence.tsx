import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { client } from "../../api.ts";
import { useMe } from "../../session.ts";
import { cx } from "../../ui/class-names.ts";
import { Countdown, Time } from "../../ui/time.tsx";
import { actionsOf } from "./actions.ts";
import { type Approval, type Detail, firstLine, hintOf, isOpen, isWait, subjectOf } from "./approval.ts";
import { Outcome } from "./outcome-mark.tsx";
import { type StoryLine, storyOf } from "./story.ts";

export function Section({
  title,
  aside,
  children,
}: {
  title: string;
  aside?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className="min-w-0">
      <div className="mb-1 flex min-h-6 items-center justify-between gap-3">
        <h3 className="text-xs font-medium text-muted">{title}</h3>
        {aside}
      </div>
      {children}
    </section>
  );
}

/** Why somebody is asked now: what the rails and the agent's settings said. */
export function Why({ detail }: { detail: Detail }) {
  const isNode = detail.kind === "workflow_node" && !isWait(detail);
  const title = detail.kind === "elicitation" || isNode ? "The question" : "Why now";
  // What a node asks is the heading already, unless it is too long for one.
  const reasons = isNode ? detail.reasons.filter((reason) => firstLine(reason) !== reason) : detail.reasons;
  if (reasons.length === 0) return null;
  return (
    <Section title={title}>
      <ul className="measure flex flex-col gap-1">
        {reasons.map((reason) => (
          <li key={reason} className="border-l-2 border-amber pl-3 break-words whitespace-pre-wrap">
            {reason}
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** What happens on each choice and at the deadline, in words. */
export function WhatHappens({
  detail,
  consequences,
}: {
  detail: Detail;
  consequences: Readonly<Record<string, string>>;
}) {
  const rows = [
    ...actionsOf(detail).map(({ choice, verb }) => ({ choice, verb, text: consequences[choice] })),
    { choice: "timeout", verb: "", text: consequences["timeout"] },
  ].filter(({ text }) => text !== undefined);
  return (
    <Section title="What happens">
      <dl className="grid gap-x-4 gap-y-1 grid-cols-[6.5rem_1fr] sm:grid-cols-[8rem_1fr]">
        {rows.map(({ choice, verb, text }) => (
          <div key={choice} className="contents">
            <dt className="font-medium break-words">
              {choice === "timeout" ? <Deadline detail={detail} /> : verb}
            </dt>
            <dd className="measure text-muted">{text}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

function Deadline({ detail }: { detail: Detail }) {
  if (detail.deadline === null) return "No deadline";
  if (!isOpen(detail)) return "At the deadline";
  return (
    <span className="[&>time]:min-w-0!">
      In <Countdown until={detail.deadline} over="no time" />
    </span>
  );
}

/** What was asked of the agent, then what was said and done before the question. */
export function LedHere({ detail }: { detail: Detail }) {
  const run = useQuery({
    queryKey: ["runs", detail.run_id, "input"],
    queryFn: async ({ signal }) => (await client.getRun({ params: { id: detail.run_id } }, { signal })).input,
    staleTime: Number.POSITIVE_INFINITY, // what was said stays said
  });
  const story = useMemo(() => storyOf(detail.context, detail.agent), [detail.context, detail.agent]);
  const asked: StoryLine[] = run.data
    ? [
        {
          key: "asked",
          at: detail.run.created_at,
          who: detail.run.parent_run_id === null ? (detail.requested_by ?? "user") : "parent run",
          did: "asked",
          text: run.data,
          code: false,
        },
      ]
    : [];
  return <Led detail={detail} lines={[...asked, ...story]} />;
}

/** What was said and done, oldest first. */
export function Led({ detail, lines }: { detail: Detail; lines: readonly StoryLine[] }) {
  return (
    <Section
      title="What led here"
      aside={
        <Link
          to="/runs/$id"
          params={{ id: detail.run_id }}
          className="rounded-sm text-xs text-accent underline"
        >
          Open the run
        </Link>
      }
    >
      {lines.length === 0 ? (
        <p className="text-muted">Nothing was said or done before.</p>
      ) : (
        <ol className="flex flex-col">
          {lines.map((line) => (
            <Line key={line.key} line={line} />
          ))}
        </ol>
      )}
    </Section>
  );
}

function Line({ line: { at, who, did, text, code } }: { line: StoryLine }) {
  return (
    <li className="border-l-2 border-line py-1 pl-3">
      <p className="flex items-baseline gap-1.5 text-xs text-muted">
        <span className="min-w-0 truncate">
          <span className="font-medium text-ink">{who}</span> {did}
        </span>
        <Time at={at} className="ml-auto shrink-0 text-right text-faint" />
      </p>
      {text && (
        <div
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable with the keyboard
          tabIndex={0}
          className={cx(
            "measure max-h-40 overflow-y-auto break-words whitespace-pre-wrap",
            code && "font-mono text-sm",
          )}
        >
          {text}
        </div>
      )}
    </li>
  );
}

/** Other questions of the same run and its sub-agents. Each is decided on its own. */
export function Siblings({ detail, changes }: { detail: Detail; changes: ReadonlyMap<string, Approval> }) {
  const me = useMe()?.user.name;
  if (detail.siblings.length === 0) return null;
  return (
    <Section title="Others of this run, decided separately">
      <ul className="rounded-md border border-line">
        {detail.siblings.map((sibling) => {
          const now = changes.get(sibling.id) ?? sibling;
          return (
            <li key={sibling.id} className="border-line not-first:border-t">
              <Link
                to="/inbox/$id"
                params={{ id: sibling.id }}
                className="row flex items-center justify-between gap-3 px-3 -outline-offset-2 hover:bg-panel coarse:h-11"
              >
                <span className="min-w-0 truncate font-mono text-sm">
                  {subjectOf(sibling)} <span className="text-xs text-muted">{hintOf(sibling)}</span>
                </span>
                <span className="shrink-0 text-xs">
                  <Outcome approval={now} me={me} />
                </span>
              </Link>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}
