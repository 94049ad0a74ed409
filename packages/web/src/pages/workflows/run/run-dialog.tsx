import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { Json, JsonObject } from "trackside/schema";
import { ApiProblem, client, explain } from "../../../api.ts";
import { type Draft, draftOf, formOf, problemsOf, readPath, readValue } from "../../../forms/schema-form.ts";
import { isObject } from "../../../forms/subschema.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { SchemaForm } from "../../../ui/schema-form.tsx";
import { withoutPath } from "../../agents/draft/issues.ts";

const ANY: JsonObject = { type: "object", additionalProperties: true };

/** What a run is started with, as a form of the workflow's input; then the run is shown on the canvas. */
export function RunDialog({
  name,
  input,
  dirty,
  open,
  onClose,
  onSaveFirst,
}: {
  name: string;
  /** JSON Schema; null for any object. */
  input: JsonObject | null;
  /** The run is of what is saved, so that is saved first. */
  dirty: boolean;
  open: boolean;
  onClose(): void;
  /** Answers whether it is saved. */
  onSaveFirst(): Promise<boolean>;
}) {
  const schema = input ?? ANY;
  const form = useMemo(() => formOf(schema), [schema]);
  const [draft, setDraft] = useState<Draft>();
  const [attempted, setAttempted] = useState(false);
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const now = draft ?? draftOf(form, {});
  const read = readValue(form, now);
  const value = read.value ?? {};
  const start = useMutation({
    mutationFn: async (given: Record<string, Json>) => {
      if (dirty && !(await onSaveFirst())) return undefined;
      return client.startWorkflow({ params: { name }, body: { input: given } });
    },
    onSuccess: (started) => {
      if (started === undefined) return onClose();
      void queryClient.invalidateQueries({ queryKey: ["workflows", "list"] });
      setAttempted(false);
      onClose();
      void navigate({
        to: "/workflows/$name",
        params: { name },
        search: { run: started.run_id } as never, // every route reads a plain search
      });
    },
  });
  const refused = start.error instanceof ApiProblem ? start.error.issues : [];
  const told = refused.map((issue) => ({
    path: readPath(issue.path.replace(/^input\.?/, "")),
    message: withoutPath(issue),
  }));
  const problems = attempted
    ? [...read.problems, ...(read.problems.length > 0 ? [] : problemsOf(schema, value)), ...told]
    : [];
  const submit = () => {
    setAttempted(true);
    if (read.problems.length > 0 || problemsOf(schema, value).length > 0 || !isObject(value)) return;
    start.mutate({ ...value });
  };
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={`Run ${name}`}
      description={
        dirty ? "Your changes are saved first: a run is of a saved version." : "What it is started with."
      }
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" pending={start.isPending} onClick={submit}>
            {dirty ? "Save and run" : "Start the run"}
          </Button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <SchemaForm
          label="Input"
          schema={schema}
          draft={now}
          onChange={(next) => {
            setDraft(next);
            start.reset();
          }}
          problems={problems}
        />
        <button type="submit" hidden aria-hidden="true" tabIndex={-1} />
      </form>
      {start.error && told.length === 0 && (
        <p role="alert" className="mt-2 text-red">
          {explain(start.error)}
        </p>
      )}
    </Dialog>
  );
}
