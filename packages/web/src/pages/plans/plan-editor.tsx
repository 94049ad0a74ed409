import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useBlocker } from "@tanstack/react-router";
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { ApiProblem, client, explain, issuesByPath } from "../../api.ts";
import { plural } from "../../format/number.ts";
import { useKeys } from "../../keys/use-keys.ts";
import { Button } from "../../ui/button.tsx";
import { cx } from "../../ui/class-names.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Field } from "../../ui/field.tsx";
import { PlusIcon, WarningIcon } from "../../ui/icons.tsx";
import { KeyHint } from "../../ui/key-hint.tsx";
import { TextArea, TextField } from "../../ui/text-field.tsx";
import { toast } from "../../ui/toast.tsx";
import { ConflictDialog } from "./conflict-dialog.tsx";
import {
  addStep,
  changeStep,
  contentOf,
  type Draft,
  type DraftStep,
  draftOf,
  isSame,
  moveStep,
  problemsOf,
  removeStep,
} from "./draft.ts";
import { EditedStep } from "./edited-step.tsx";
import { boardKey, type Plan } from "./types.ts";
import { useReorder } from "./use-reorder.ts";

export interface PlanEditorProps {
  agent: string;
  /** The plan that is edited; undefined for a new one. */
  plan: Plan | undefined;
  start: Draft;
  onDone(): void;
}

/** Goal and steps in place: written, moved, added, removed; one save makes one version. */
export function PlanEditor({ agent, plan, start, onDone }: PlanEditorProps) {
  const [draft, setDraft] = useState(start);
  const [base, setBase] = useState({ draft: start, version: plan?.version });
  const [note, setNote] = useState("");
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [attempted, setAttempted] = useState(false);
  const [said, setSaid] = useState("");
  const [theirs, setTheirs] = useState<Plan>();
  const list = useRef<HTMLOListElement>(null);
  const goal = useRef<HTMLTextAreaElement>(null);
  const leaving = useRef(false);
  const queryClient = useQueryClient();
  const dirty = plan === undefined ? draft.goal !== "" || draft.steps.length > 0 : !isSame(draft, base.draft);
  const running = new Set(plan?.steps.filter(({ state }) => state === "running").map(({ id }) => id));

  useEffect(() => goal.current?.focus(), []);

  const save = useMutation({
    mutationFn: async (over: number | undefined) => {
      const body = { ...contentOf(draft), ...(note.trim() && { note: note.trim() }) };
      const version = over ?? base.version;
      return plan === undefined || version === undefined
        ? client.createPlan({ params: { name: agent }, body })
        : client.savePlan({ params: { id: plan.id }, body: { ...body, version } });
    },
    onSuccess: async ({ version }) => {
      leaving.current = true;
      await queryClient.invalidateQueries({ queryKey: ["plans"] });
      toast({ title: "The plan is saved", detail: `Version ${version}` });
      onDone();
    },
    onError: async (error) => {
      if (!(error instanceof ApiProblem) || error.code !== "version_conflict" || plan === undefined) return;
      const now = await client.getPlan({ params: { id: plan.id } }).catch(() => undefined);
      if (now) setTheirs(now);
    },
  });
  const problems = useMemo(() => {
    const here = attempted ? problemsOf(draft) : new Map<string, string>();
    return new Map([...issuesByPath(save.error), ...here]);
  }, [attempted, draft, save.error]);

  const trySave = () => {
    if (save.isPending) return;
    setAttempted(true);
    save.reset();
    const found = problemsOf(draft);
    if (found.size === 0) return save.mutate(undefined);
    const [first = ""] = found.keys();
    setTimeout(() =>
      document.querySelector<HTMLElement>(`[data-field="${first}"] .control:is(input, textarea)`)?.focus(),
    );
  };

  const move = (id: string, to: number) => {
    const next = moveStep(draft, id, to);
    if (next === draft) return;
    setDraft(next);
    const place = next.steps.findIndex((step) => step.id === id) + 1;
    const { title = "" } = next.steps[place - 1] ?? {};
    setSaid(`${title || "Step"} is now step ${place} of ${next.steps.length}.`);
  };
  const { dragged, handle } = useReorder(list, move);
  /** Alt and an arrow moves the step that has the focus, and the focus stays in it. */
  const onKeyDown = (event: KeyboardEvent, id: string) => {
    if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
    event.preventDefault();
    const at = draft.steps.findIndex((step) => step.id === id);
    const focused = document.activeElement as HTMLElement | null; // where the key came from
    move(id, at + (event.key === "ArrowUp" ? -1 : 1));
    setTimeout(() => {
      focused?.focus();
      focused?.scrollIntoView({ block: "nearest" });
    });
  };

  const add = () => {
    const made = addStep(draft);
    setDraft(made.draft);
    setSaid(`Step ${made.draft.steps.length} is added.`);
    setTimeout(() => list.current?.querySelector<HTMLElement>(`[data-item="${made.id}"] input`)?.focus());
  };
  const remove = (step: DraftStep, at: number) => {
    setDraft(removeStep(draft, step.id));
    setSaid(`${step.title || `Step ${at + 1}`} is removed.`);
    setTimeout(() => {
      const items = list.current?.querySelectorAll<HTMLElement>("[data-item] input") ?? [];
      (items[Math.min(at, items.length - 1)] ?? goal.current)?.focus();
    });
  };

  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => dirty && !leaving.current && current.pathname !== next.pathname,
    enableBeforeUnload: () => dirty && !leaving.current,
    withResolver: true,
  });
  useKeys("Plan", [
    { keys: "mod+s", what: "Save the plan", run: trySave, whileTyping: true },
    { keys: "n", what: "Add a step", run: add },
  ]);

  const refusal =
    save.error && !save.isPending && !theirs && issuesByPath(save.error).size === 0
      ? explain(save.error)
      : undefined;
  return (
    <div className="flex flex-col gap-4">
      <p aria-live="assertive" className="sr-only">
        {said}
      </p>
      {(refusal || (attempted && problems.size > 0)) && (
        <p
          role="alert"
          className="flex items-start gap-2 rounded-md border border-red bg-red-soft px-3 py-2 text-red"
        >
          <WarningIcon className="mt-0.5" />
          <span className="min-w-0 break-words">
            {refusal ?? `${plural(problems.size, "problem")} to put right before it can be saved.`}
          </span>
        </p>
      )}
      <Field label="Goal" name="goal" problem={problems.get("goal")}>
        <TextArea
          ref={goal}
          rows={2}
          value={draft.goal}
          onChange={(value) => setDraft({ ...draft, goal: value })}
          placeholder="What is to be reached, and how one can tell."
        />
      </Field>
      <section aria-label="Steps" className="flex flex-col gap-2">
        <div className="flex flex-wrap items-baseline justify-between gap-2">
          <h2 className="text-lg font-semibold">Steps</h2>
          <p className="text-xs text-muted">
            Drag a step by its grip
            <span className="coarse:hidden">
              , or press <KeyHint keys="alt+arrowup" /> <KeyHint keys="alt+arrowdown" /> in it
            </span>
            .
          </p>
        </div>
        <ol ref={list} className="flex flex-col gap-2">
          {draft.steps.map((step, at) => (
            <li
              key={step.id}
              data-item={step.id}
              onKeyDown={(event) => onKeyDown(event, step.id)}
              className={cx(
                "rounded-md border bg-canvas",
                dragged === step.id ? "border-accent shadow-popup" : "border-line",
              )}
            >
              <EditedStep
                step={step}
                at={at}
                draft={draft}
                locked={running.has(step.id)}
                isOpen={open.has(step.id)}
                problems={problems}
                grip={handle(step.id)}
                onToggle={() => setOpen(toggled(open, step.id))}
                onChange={(change) => setDraft(changeStep(draft, step.id, change))}
                onRemove={() => remove(step, at)}
              />
            </li>
          ))}
        </ol>
        <Button icon={PlusIcon} onClick={add} className="self-start">
          Add a step
        </Button>
      </section>
      <div className="sticky bottom-0 z-10 flex flex-wrap items-end gap-2 border-t border-line bg-canvas py-3">
        <Field label="Note for the version" hideLabel className="min-w-48 flex-1 max-sm:basis-full">
          <TextField value={note} onChange={setNote} placeholder="Note for the version" maxLength={500} />
        </Field>
        <Button
          className="ml-auto"
          onClick={() => {
            leaving.current = true;
            onDone();
          }}
        >
          {dirty ? "Discard" : "Close"}
        </Button>
        <Button kind="primary" pending={save.isPending} disabled={!dirty} onClick={trySave}>
          Save plan
        </Button>
      </div>
      <ConflictDialog
        theirs={theirs}
        mine={draft}
        pending={save.isPending}
        onClose={() => setTheirs(undefined)}
        onSave={({ version }) => {
          setTheirs(undefined);
          save.mutate(version);
        }}
        onLoad={(now) => {
          setTheirs(undefined);
          setDraft(draftOf(now));
          setBase({ draft: draftOf(now), version: now.version });
          save.reset();
          void queryClient.invalidateQueries({ queryKey: boardKey(agent) });
        }}
      />
      <Confirm
        open={blocker.status === "blocked"}
        onClose={() => blocker.reset?.()}
        title="Leave without saving?"
        description="What you changed in the plan is lost."
        action="Leave"
        danger
        onConfirm={() => blocker.proceed?.()}
      />
    </div>
  );
}

function toggled(open: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(open);
  if (!next.delete(id)) next.add(id);
  return next;
}
