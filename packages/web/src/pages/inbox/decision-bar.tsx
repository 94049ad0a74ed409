import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useState } from "react";
import { explain, mayRetry } from "../../api.ts";
import { useMe, WHO_MAY } from "../../session.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { LockIcon, RetryIcon, WarningIcon } from "../../ui/icons.tsx";
import { KeyHint } from "../../ui/key-hint.tsx";
import { TextArea } from "../../ui/text-field.tsx";
import { Time } from "../../ui/time.tsx";
import type { Action } from "./actions.ts";
import { type Approval, type Detail, isOpen, subjectOf } from "./approval.ts";
import { isConflict, type useDecide } from "./decide.ts";
import { conflictWords, decidedWords } from "./outcome.ts";

export interface DecisionBarProps {
  detail: Detail;
  next: Approval | undefined;
  may: boolean;
  actions: readonly Action[];
  withChanges: boolean;
  /** The rule that the decision makes, in words. */
  rule: string | undefined;
  /** The choice whose reason is being written. */
  refusing: Action | undefined;
  onRefuse(action: Action | undefined): void;
  onPress(action: Action): void;
  onChoose(action: Action, reason?: string): void;
  decide: ReturnType<typeof useDecide>;
}

/** Names of tools can be long: a button grows rather than cuts them. */
const GROWS = "h-auto! min-h-8 py-1 whitespace-normal! wrap-anywhere coarse:min-h-11";

/** At the bottom, always in reach: of the eye beside the evidence, and of a thumb on a phone. */
export function DecisionBar(props: DecisionBarProps) {
  const { detail, may, refusing, decide, rule } = props;
  return (
    <footer className="shrink-0 border-t border-line bg-canvas px-4 py-3 lg:px-5">
      <div aria-live="polite" className="empty:hidden">
        <Failed {...props} />
      </div>
      {!isOpen(detail) ? (
        <Decided {...props} />
      ) : !may ? (
        <p className="flex items-center gap-2 text-muted">
          <LockIcon />
          {WHO_MAY.decide} can decide this. You can read it.
        </p>
      ) : (
        <>
          {rule && (
            <p className="measure mb-2 text-sm break-words text-muted">
              <span className="font-medium text-ink">The rule this makes:</span> {rule}
            </p>
          )}
          {refusing ? (
            <Refusal {...props} action={refusing} key={refusing.choice} />
          ) : (
            <Choices {...props} pending={decide.isPending} />
          )}
        </>
      )}
    </footer>
  );
}

function Choices({
  actions,
  withChanges,
  rule,
  onPress,
  decide,
  pending,
}: DecisionBarProps & { pending: boolean }) {
  const sent = decide.variables?.choice;
  // The way forward is at the right and, on a phone, at the bottom, where the thumb is.
  const ordered = actions.toSorted((a, b) => Number(a.look === "primary") - Number(b.look === "primary"));
  return (
    <div className="flex flex-col gap-2 sm:flex-row sm:flex-wrap sm:items-center sm:justify-end">
      {ordered.map((action) => (
        <Button
          key={action.choice}
          kind={action.look}
          pending={pending && sent === action.choice}
          disabled={pending && sent !== action.choice}
          onClick={() => onPress(action)}
          className={GROWS}
        >
          {action.label}
          {action.choice === "approve" && withChanges && " with changes"}
          {action.choice === "approve" && rule && " and remember"}
          {action.key && (
            <span className="ml-2 coarse:hidden">
              <KeyHint keys={action.key} />
            </span>
          )}
        </Button>
      ))}
    </div>
  );
}

/** The model reads the reason, so there is a field for it. Enter sends it, Shift with Enter makes a new line. */
function Refusal({
  action,
  onRefuse,
  onChoose,
  rule,
  decide,
  detail,
}: DecisionBarProps & { action: Action }) {
  const [reason, setReason] = useState("");
  const send = () => onChoose(action, reason.trim());
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <div className="flex flex-col gap-2">
      <Field label="Reason" aside="optional" hint={`${readerOf(detail)}, and it stays in the record.`}>
        <TextArea
          autoFocus
          value={reason}
          onChange={setReason}
          onKeyDown={onKeyDown}
          maxLength={10_000}
          placeholder="What should happen instead?"
        />
      </Field>
      <div className="grid grid-cols-[auto_1fr] gap-2 sm:flex sm:justify-end">
        <Button onClick={() => onRefuse(undefined)} className={GROWS}>
          Back
        </Button>
        <Button kind="danger" pending={decide.isPending} onClick={send} className={GROWS}>
          {action.label}
          {action.choice === "reject" && rule && " and remember"}
        </Button>
      </div>
    </div>
  );
}

/** Who hears of a reason. */
function readerOf({ kind }: Detail): string {
  if (kind === "workflow_node") return "The node ends with it";
  return kind === "elicitation" ? "The server that asked is told it" : "The model is told it";
}

/** It stays as it was decided until somebody goes on. */
function Decided({ detail, next }: DecisionBarProps) {
  const me = useMe()?.user.name;
  const navigate = useNavigate();
  const { decision } = detail;
  return (
    <div className="flex flex-col gap-2 sm:flex-row sm:items-center sm:justify-between">
      <div className="min-w-0">
        <p role="status" className="font-medium break-words">
          {decidedWords(detail, me)}
        </p>
        <p className="text-sm text-muted">
          {decision && <Time at={decision.at} className="min-w-0!" />}
          {decision?.reason && detail.state !== "cancelled" && (
            <span className="break-words whitespace-pre-wrap">. Reason: {decision.reason}</span>
          )}
        </p>
      </div>
      {next && (
        <Button
          onClick={() => void navigate({ to: "/inbox/$id", params: { id: next.id } })}
          className={GROWS}
        >
          Next: {subjectOf(next)}
          <span className="ml-2 coarse:hidden">
            <KeyHint keys="j" />
          </span>
        </Button>
      )}
    </div>
  );
}

function Failed({ detail, decide, onRefuse }: DecisionBarProps) {
  const me = useMe()?.user.name;
  const { error, variables } = decide;
  if (!error) return null;
  const words = isConflict(error) ? conflictWords(detail, me) : explain(error);
  return (
    <div className="mb-2 flex flex-wrap items-center gap-2">
      <p className="flex min-w-0 flex-1 items-start gap-1.5 break-words text-red">
        <WarningIcon className="mt-0.5" />
        {words}
      </p>
      {mayRetry(error) && variables && isOpen(detail) && (
        <Button
          size="small"
          icon={RetryIcon}
          onClick={() => {
            onRefuse(undefined);
            decide.mutate(variables);
          }}
        >
          Send it again
        </Button>
      )}
    </div>
  );
}
