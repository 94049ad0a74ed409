import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { ApiProblem, client, explain } from "../../api.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { UploadIcon } from "../../ui/icons.tsx";
import { TextArea, TextField } from "../../ui/text-field.tsx";
import { toast } from "../../ui/toast.tsx";
import { readJsonObject } from "../agents/draft/agent-draft.ts";
import { withoutPath } from "../agents/draft/issues.ts";

/** A definition as it was exported, from a file or pasted. Everything that is wrong with it is told at once (W4). */
export function ImportDialog({ open, onClose }: { open: boolean; onClose(): void }) {
  const [text, setText] = useState("");
  const [as, setAs] = useState("");
  const file = useRef<HTMLInputElement>(null);
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const read = readJsonObject(text);
  const own = "value" in read && typeof read.value["name"] === "string" ? read.value["name"] : undefined;
  const add = useMutation({
    mutationFn: (body: Record<string, unknown>) =>
      client.importWorkflow({ body, query: as.trim() === "" ? {} : { as: as.trim() } }),
    onSuccess: ({ name }) => {
      for (const part of ["list", "catalog"])
        void queryClient.invalidateQueries({ queryKey: ["workflows", part] });
      toast({ title: `Workflow ${name} is imported` });
      close();
      void navigate({ to: "/workflows/$name", params: { name } });
    },
  });
  const close = () => {
    setText("");
    setAs("");
    add.reset();
    onClose();
  };
  const change = (next: string) => {
    setText(next);
    add.reset();
  };
  const submit = () => "value" in read && add.mutate({ ...read.value });
  const issues = add.error instanceof ApiProblem ? add.error.issues : [];
  return (
    <Dialog
      open={open}
      onClose={close}
      size="large"
      title="Import a workflow"
      description="A definition as JSON, such as another control room exported."
      actions={
        <>
          <Button icon={UploadIcon} onClick={() => file.current?.click()} className="mr-auto">
            Choose a file
          </Button>
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" disabled={!("value" in read)} pending={add.isPending} onClick={submit}>
            Import workflow
          </Button>
        </>
      }
    >
      <input
        ref={file}
        type="file"
        accept="application/json,.json"
        aria-hidden="true"
        tabIndex={-1}
        className="hidden"
        onChange={async (event) => {
          const chosen = event.target.files?.[0];
          event.target.value = "";
          if (chosen) change(await chosen.text());
        }}
      />
      <div className="flex flex-col gap-3">
        <Field label="Definition" problem={text.trim() !== "" && "problem" in read && read.problem}>
          <TextArea
            mono
            rows={8}
            spellCheck={false}
            value={text}
            onChange={change}
            placeholder='{ "name": "deploy", "nodes": { … }, "edges": [ … ] }'
          />
        </Field>
        <Field label="Under another name" aside="optional">
          <TextField
            mono
            value={as}
            onChange={(next) => {
              setAs(next);
              add.reset();
            }}
            placeholder={own ?? ""}
            spellCheck={false}
            autoComplete="off"
          />
        </Field>
      </div>
      {add.error && (
        <div role="alert" className="mt-3 text-red">
          {issues.length === 0 ? (
            <p>{explain(add.error)}</p>
          ) : (
            <ul className="flex flex-col gap-1">
              {issues.map((issue) => (
                <li key={`${issue.path} ${issue.message}`} className="break-words">
                  <span className="font-mono text-sm font-medium">{issue.path}</span> {withoutPath(issue)}
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </Dialog>
  );
}
