import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { ApiProblem, client, explain, issuesByPath } from "../../api.ts";
import { useKeys } from "../../keys/use-keys.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Switch } from "../../ui/switch.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { toast } from "../../ui/toast.tsx";
import { Choice } from "./choice.tsx";
import { Conflict } from "./conflict.tsx";
import { type Draft, draftOf, fieldsOf } from "./draft.ts";
import { NextTimes, usePreview } from "./next-times.tsx";
import type { SavedSchedule, Schedule } from "./schedule.ts";
import { TargetFields } from "./target-fields.tsx";
import { TriggerFields } from "./trigger-fields.tsx";

const MISSED = [
  { value: "skip", label: "Leave them out", about: "It starts again at the next time." },
  {
    value: "once",
    label: "Make up for them by one run",
    about: "As soon as somebody is up again, however many times passed.",
  },
  { value: "all", label: "Run each of them", about: "In their order; at most the last hundred." },
] as const;

const OVERLAP = [
  { value: "allow", label: "Start another one beside it", about: "Runs do not wait for each other." },
  { value: "skip", label: "Leave this time out", about: "The history says which run was still open." },
] as const;

/** Makes a schedule, or changes one. */
export function ScheduleEditor(props: {
  start: Draft;
  /** The one that is edited; nothing for a new one. */
  record?: Schedule;
  readOnly: boolean;
  onSaved(saved: SavedSchedule): void;
}) {
  const { record, readOnly, onSaved } = props;
  const [draft, setDraft] = useState(props.start);
  const [base, setBase] = useState(props.start);
  const [wrongInput, setWrongInput] = useState<string>();
  const [theirs, setTheirs] = useState<Schedule>();
  const [version, setVersion] = useState(record?.version);
  const queryClient = useQueryClient();
  const preview = usePreview(draft.pattern, draft.zone, draft.trigger === "cron");
  const isChanged = record === undefined || JSON.stringify(draft) !== JSON.stringify(base);
  // Somebody else saved it: shown at once where nothing is lost, else told when this is saved.
  if (record !== undefined && record.version !== version && !isChanged) {
    setVersion(record.version);
    setDraft(draftOf(record));
    setBase(draftOf(record));
  }

  const save = useMutation({
    mutationFn: async (over: number | undefined) => {
      const made = fieldsOf(draft);
      setWrongInput("problem" in made ? made.problem : undefined);
      if ("problem" in made) return undefined;
      if (record === undefined || over === undefined) return client.createSchedule({ body: made.fields });
      return client.saveSchedule({ params: { id: record.id }, body: { ...made.fields, version: over } });
    },
    onSuccess: (saved) => {
      if (saved === undefined) return;
      setTheirs(undefined);
      setBase(draft);
      setVersion(saved.version);
      void queryClient.invalidateQueries({ queryKey: ["schedules"] });
      toast({ title: `Schedule ${saved.name} is saved` });
      onSaved(saved);
    },
    onError: async (error) => {
      if (record === undefined || !(error instanceof ApiProblem) || error.code !== "version_conflict") return;
      setTheirs(await client.getSchedule({ params: { id: record.id } }));
    },
  });
  const submit = () => save.mutate(version);
  useKeys("Schedule", [
    { keys: "mod+s", what: "Save", run: submit, enabled: !readOnly && isChanged, whileTyping: true },
  ]);

  const change = (patch: Partial<Draft>) => setDraft({ ...draft, ...patch });
  const problems = new Map(
    [...issuesByPath(save.error)].map(([path, said]) => [path, besideField(path, said)]),
  );
  for (const { path, message } of preview.data?.issues ?? [])
    if (draft.trigger === "cron") problems.set(path, besideField(path, message));
  if (wrongInput !== undefined) problems.set("input", wrongInput);
  const rest = save.error && issuesByPath(save.error).size === 0 && theirs === undefined;

  return (
    <form
      className="grid gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]"
      onSubmit={(event) => {
        event.preventDefault();
        if (!readOnly) submit();
      }}
    >
      <div className="flex min-w-0 max-w-180 flex-col gap-6">
        <Field label="Name" name="name" problem={problems.get("name")}>
          <TextField
            value={draft.name}
            disabled={readOnly}
            maxLength={128}
            autoComplete="off"
            onChange={(name) => change({ name })}
          />
        </Field>
        <Part title="What it starts">
          <TargetFields draft={draft} readOnly={readOnly} problems={problems} onChange={change} />
        </Part>
        <Part title="When">
          <TriggerFields draft={draft} readOnly={readOnly} problems={problems} onChange={change} />
          {draft.trigger === "cron" && (
            <div className="mt-2 lg:hidden">
              <NextTimes preview={preview} zone={draft.zone} />
            </div>
          )}
        </Part>
        {draft.trigger === "cron" && (
          <Choice
            label="Times that pass while nobody is up"
            value={draft.missed}
            options={MISSED}
            disabled={readOnly}
            onChange={(missed) => change({ missed })}
          />
        )}
        <Choice
          label="If a run of it is still open"
          value={draft.overlap}
          options={OVERLAP}
          disabled={readOnly}
          onChange={(overlap) => change({ overlap })}
        />
        <Field label="On" inline hint="Switched off it starts nothing, and makes up for nothing later.">
          <Switch checked={draft.enabled} disabled={readOnly} onChange={(enabled) => change({ enabled })} />
        </Field>
        {rest && (
          <p role="alert" className="text-red">
            {explain(save.error)}
          </p>
        )}
        {!readOnly && (
          <div className="flex items-center gap-2">
            <Button kind="primary" type="submit" pending={save.isPending} disabled={!isChanged}>
              {record === undefined ? "Create schedule" : "Save schedule"}
            </Button>
            {record !== undefined && isChanged && (
              <Button onClick={() => setDraft(base)}>Discard changes</Button>
            )}
          </div>
        )}
      </div>
      {draft.trigger === "cron" && (
        <div className="max-lg:hidden lg:sticky lg:top-4 lg:self-start">
          <NextTimes preview={preview} zone={draft.zone} />
        </div>
      )}
      <Conflict
        theirs={theirs}
        pending={save.isPending}
        onClose={() => setTheirs(undefined)}
        onLoad={(found) => {
          const loaded = draftOf(found);
          setDraft(loaded);
          setBase(loaded);
          setVersion(found.version);
          setTheirs(undefined);
          void queryClient.invalidateQueries({ queryKey: ["schedules"] });
        }}
        onSave={(found) => save.mutate(found.version)}
      />
    </form>
  );
}

/** Beside a field nobody has to be told which one it is. */
function besideField(path: string, message: string): string {
  const said = message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message;
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}.`;
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-2">
      <h2 className="text-lg font-semibold">{title}</h2>
      {children}
    </section>
  );
}
