import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactElement, useState } from "react";
import { client, explain } from "../../api.ts";
import { useMay, WHO_MAY } from "../../session.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { copyText } from "../../ui/copy-button.tsx";
import { Field } from "../../ui/field.tsx";
import { BranchIcon, CopyIcon, DownloadIcon, TrashIcon } from "../../ui/icons.tsx";
import { Menu } from "../../ui/menu.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { toast } from "../../ui/toast.tsx";
import { downloadJson } from "../agents/download.ts";

export interface ActedOn {
  readonly name: string;
  readonly source: "stored" | "code";
  readonly version: number;
  readonly pending_approvals: number;
}

async function exported(name: string, use: (definition: Record<string, unknown>) => unknown): Promise<void> {
  try {
    await use(await client.exportWorkflow({ params: { name } }));
  } catch (error) {
    toast({ kind: "problem", title: `Workflow ${name} was not exported`, detail: explain(error) });
  }
}

/** What can be done with a workflow, behind three dots. */
export function WorkflowMenu({
  workflow,
  trigger,
  onGone,
}: {
  workflow: ActedOn;
  trigger: ReactElement<Record<string, unknown>>;
  /** It was deleted: a page of it has nothing to show any more. */
  onGone?(): void;
}) {
  const [open, setOpen] = useState<"clone" | "delete">();
  const navigate = useNavigate();
  const admin = useMay("admin");
  const { name, source } = workflow;
  const stored = source === "stored";
  const copy = (definition: unknown) =>
    copyText(JSON.stringify(definition, null, 2)).then((done) =>
      toast(done ? { title: "The JSON is copied" } : { kind: "problem", title: "Not copied" }),
    );
  return (
    <>
      <Menu
        trigger={trigger}
        items={[
          {
            label: "Versions",
            icon: BranchIcon,
            disabled: !stored,
            hint: stored ? undefined : "It is defined in code",
            run: () => void navigate({ to: "/workflows/$name/versions", params: { name } }),
          },
          {
            label: "Export as JSON",
            icon: DownloadIcon,
            run: () => void exported(name, (definition) => downloadJson(name, definition)),
          },
          { label: "Copy JSON", icon: CopyIcon, run: () => void exported(name, copy) },
          null,
          {
            label: "Clone",
            icon: CopyIcon,
            disabled: !admin,
            hint: admin ? undefined : `${WHO_MAY.admin} can`,
            run: () => setOpen("clone"),
          },
          {
            label: "Delete",
            icon: TrashIcon,
            danger: admin && stored,
            disabled: !admin || !stored,
            hint: stored ? (admin ? undefined : `${WHO_MAY.admin} can`) : "It is defined in code",
            run: () => setOpen("delete"),
          },
        ]}
      />
      <CloneDialog name={name} open={open === "clone"} onClose={() => setOpen(undefined)} />
      <DeleteDialog
        workflow={workflow}
        open={open === "delete"}
        onClose={() => setOpen(undefined)}
        {...(onGone && { onGone })}
      />
    </>
  );
}

function useForgetWorkflows(): () => void {
  const queryClient = useQueryClient();
  return () => {
    for (const part of ["list", "catalog"])
      void queryClient.invalidateQueries({ queryKey: ["workflows", part] });
  };
}

function CloneDialog({ name, open, onClose }: { name: string; open: boolean; onClose(): void }) {
  const [copy, setCopy] = useState(`${name}-copy`);
  const navigate = useNavigate();
  const forget = useForgetWorkflows();
  return (
    <Confirm
      open={open}
      onClose={onClose}
      title={`Clone ${name}`}
      description="The copy has the same nodes and versions of its own."
      action="Clone workflow"
      onConfirm={async () => {
        const made = await client.cloneWorkflow({ params: { name }, body: { name: copy } });
        forget();
        toast({ title: `Workflow ${made.name} is made` });
        await navigate({ to: "/workflows/$name", params: { name: made.name } });
      }}
    >
      <Field label="Name of the copy">
        <TextField mono value={copy} onChange={setCopy} spellCheck={false} autoComplete="off" />
      </Field>
    </Confirm>
  );
}

function DeleteDialog({
  workflow,
  open,
  onClose,
  onGone,
}: {
  workflow: ActedOn;
  open: boolean;
  onClose(): void;
  onGone?(): void;
}) {
  const forget = useForgetWorkflows();
  const { name, version, pending_approvals } = workflow;
  return (
    <Confirm
      open={open}
      onClose={onClose}
      title={`Delete workflow ${name}?`}
      description={
        <>
          Lost: its definition{version > 1 && ` and the way to its ${version} versions`}; nobody can start it
          any more, and workflows that use it cannot be saved. Its runs stay, and those under way go on with
          the version they began with.
          {pending_approvals > 0 &&
            ` ${pending_approvals === 1 ? "One decision still waits" : `${pending_approvals} decisions still wait`}.`}
        </>
      }
      action={`Delete ${name}`}
      danger
      onConfirm={async () => {
        await client.deleteWorkflow({ params: { name } });
        forget();
        toast({ title: `Workflow ${name} is deleted` });
        onGone?.();
      }}
    />
  );
}
