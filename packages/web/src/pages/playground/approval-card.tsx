import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { client, explain } from "../../api.ts";
import { useMay, useMe, WHO_MAY } from "../../session.ts";
import { useApprovalChanges } from "../../shell/approval-changes.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Field } from "../../ui/field.tsx";
import { LockIcon } from "../../ui/icons.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { TextArea } from "../../ui/text-field.tsx";
import { Countdown } from "../../ui/time.tsx";
import { type Action, actionsOf } from "../inbox/actions.ts";
import { type Detail, questionOf } from "../inbox/approval.ts";
import { isConflict, useDecide } from "../inbox/decide.ts";
import { Outcome } from "../inbox/outcome-mark.tsx";
import type { Asked } from "./items.ts";

/** A question where it came up, with the same choices as in the inbox. */
export function ApprovalCard({ asked }: { asked: Asked }) {
  const changes = useApprovalChanges();
  const me = useMe()?.user.name;
  const detail = useQuery({
    queryKey: ["approvals", "detail", asked.id],
    queryFn: ({ signal }) => client.getApproval({ params: { id: asked.id } }, { signal }),
    enabled: asked.state === "pending",
  });
  // Whoever hears first: the stream of the run, or that of the inbox.
  const decided = [changes.get(asked.id), detail.data].find((one) => one && one.state !== "pending");
  if (asked.state !== "pending" || decided)
    return (
      <p className="flex flex-wrap items-center gap-x-2 text-xs text-muted">
        {decided ? (
          <Outcome approval={decided} me={me} />
        ) : (
          <Outcome approval={{ state: asked.state, decision: null }} by={false} />
        )}
        {!decided && asked.decidedBy && <span>by {nameOf(asked.decidedBy, me)}</span>}
        {decided?.decision?.reason && <span className="break-words">“{decided.decision.reason}”</span>}
      </p>
    );
  return (
    <section aria-label={`Decision on ${asked.tool ?? "this request"}`} className="flex flex-col gap-3">
      {asked.reasons.length > 0 && (
        <ul className="measure flex flex-col gap-1">
          {asked.reasons.map((reason) => (
            <li key={reason} className="border-l-2 border-amber pl-3 text-sm break-words whitespace-pre-wrap">
              {reason}
            </li>
          ))}
        </ul>
      )}
      {detail.data ? (
        <Decision detail={detail.data} />
      ) : detail.error ? (
        <p role="alert" className="text-sm text-red">
          {explain(detail.error)}
        </p>
      ) : (
        <div className="skeleton h-8 w-64" />
      )}
    </section>
  );
}

function nameOf(by: string, me: string | undefined): string {
  if (by.startsWith("rule:")) return "a remembered rule";
  return by === me ? "you" : by;
}

function Decision({ detail }: { detail: Detail }) {
  const mayDecide = useMay("decide");
  const decide = useDecide(detail);
  const [reasonFor, setReasonFor] = useState<Action>();
  const [reason, setReason] = useState("");
  const [confirming, setConfirming] = useState<Action>();
  const actions = actionsOf(detail);
  // What needs a value along has its form in the inbox.
  const here = actions.filter(({ needsResponse }) => !needsResponse);
  const send = async (action: Action, why?: string) => {
    await decide.mutateAsync({ choice: action.choice, ...(why?.trim() && { reason: why.trim() }) });
  };
  const choose = (action: Action) => {
    if (action.asksReason) setReasonFor(action);
    else if (action.confirms) setConfirming(action);
    else send(action).catch(() => {}); // said below
  };
  if (!mayDecide)
    return (
      <p className="flex items-center gap-2 text-sm text-muted">
        <LockIcon />
        <span>
          {WHO_MAY.decide} can decide this.{" "}
          <span className="whitespace-nowrap">
            It <Waits detail={detail} />
          </span>
        </span>
      </p>
    );
  return (
    <>
      <Consequences detail={detail} actions={actions} />
      {reasonFor ? (
        <form
          className="flex flex-col gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            send(reasonFor, reason).catch(() => {}); // said below
          }}
        >
          <Field label="Reason, which the model reads (optional)">
            <TextArea
              value={reason}
              onChange={setReason}
              rows={1}
              autoFocus
              onKeyDown={(event) => {
                if (event.key !== "Escape") return;
                event.stopPropagation();
                event.preventDefault();
                setReasonFor(undefined);
              }}
            />
          </Field>
          <div className="flex flex-wrap gap-2">
            <Button type="submit" kind="danger" pending={decide.isPending}>
              {reasonFor.label}
            </Button>
            <Button onClick={() => setReasonFor(undefined)}>Back</Button>
          </div>
        </form>
      ) : (
        <div className="flex flex-wrap items-center gap-2">
          {here.map((action) => (
            <Button
              key={action.choice}
              kind={action.look === "primary" ? "primary" : "plain"}
              pending={decide.isPending && decide.variables.choice === action.choice}
              disabled={decide.isPending}
              onClick={() => choose(action)}
            >
              {action.label}
            </Button>
          ))}
          <Link
            to="/inbox/$id"
            params={{ id: detail.id }}
            className="rounded-sm px-1 text-sm text-accent underline underline-offset-2"
          >
            {here.length < actions.length ? "Answer in the inbox" : "Edit or remember in the inbox"}
          </Link>
          <span className="ml-auto text-xs text-muted">
            <Waits detail={detail} />
          </span>
        </div>
      )}
      {decide.error && (
        <p role="alert" className="text-sm text-red">
          {isConflict(decide.error) ? "It was decided elsewhere first." : explain(decide.error)}
        </p>
      )}
      {confirming && (
        <Confirm
          open
          danger={detail.irreversible}
          onClose={() => setConfirming(undefined)}
          title={questionOf(detail)}
          description={
            detail.consequences[confirming.choice] ??
            "It runs at once with the arguments shown. It cannot be taken back."
          }
          action={confirming.label}
          onConfirm={() => send(confirming)}
        >
          {detail.arguments && (
            <JsonView value={detail.arguments} label={`Arguments of ${detail.tool ?? "the call"}`} open={4} />
          )}
          {detail.irreversible && (
            <p className="mt-2 text-sm font-medium text-amber">This cannot be taken back.</p>
          )}
        </Confirm>
      )}
    </>
  );
}

/** What each choice does, before it is made. */
function Consequences({
  detail: { consequences, irreversible },
  actions,
}: {
  detail: Detail;
  actions: Action[];
}) {
  const rows = actions.flatMap(({ choice, label }) => {
    const text = consequences[choice];
    return text === undefined ? [] : [{ choice, label: label.split(" ")[0] ?? label, text }];
  });
  return (
    <>
      <dl className="grid grid-cols-[max-content_1fr] gap-x-3 gap-y-1 text-xs text-muted">
        {rows.map(({ choice, label, text }) => (
          <div key={choice} className="contents">
            <dt className="font-medium text-ink">{label}</dt>
            <dd className="min-w-0 break-words">{text}</dd>
          </div>
        ))}
      </dl>
      {irreversible && <p className="text-xs font-medium text-amber">What it does cannot be taken back.</p>}
    </>
  );
}

function Waits({ detail: { deadline } }: { detail: Detail }) {
  if (deadline === null) return "waits without a deadline";
  return (
    <>
      times out in <Countdown until={deadline} over="now" />
    </>
  );
}
