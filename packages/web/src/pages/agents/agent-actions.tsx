import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactElement, useState } from "react";
import { client, explain } from "../../api.ts";
import { useMay, WHO_MAY } from "../../session.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Field } from "../../ui/field.tsx";
import { BranchIcon, CopyIcon, DownloadIcon, PlaygroundIcon, TrashIcon } from "../../ui/icons.tsx";
import { Menu } from "../../ui/menu.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { toast } from "../../ui/toast.tsx";
import { PlanIcon } from "../plans/plan-icon.tsx";
import { downloadJson } from "./download.ts";

export interface ActedOn {
  readonly name: string;
  readonly source: "stored" | "code";
  readonly version: number;
  readonly pending_approvals: number;
}

export async function exportAgent(name: string): Promise<void> {
  try {
    downloadJson(name, await client.exportAgent({ params: { name } }));
  } catch (error) {
    toast({ kind: "problem", title: `Agent ${name} was not exported`, detail: explain(error) });
  }
}

/** What can be done with an agent, behind three dots. */
export function AgentMenu({
  agent,
  trigger,
  onGone,
}: {
  agent: ActedOn;
  trigger: ReactElement<Record<string, unknown>>;
  /** It was deleted: a page of it has nothing to show any more. */
  onGone?(): void;
}) {
  const [open, setOpen] = useState<"clone" | "delete">();
  const navigate = useNavigate();
  const admin = useMay("admin");
  const operate = useMay("operate");
  const { name, source } = agent;
  const stored = source === "stored";
  return (
    <>
      <Menu
        trigger={trigger}
        items={[
          {
            label: "Talk to it",
            icon: PlaygroundIcon,
            disabled: !operate,
            hint: operate ? undefined : `${WHO_MAY.operate} can`,
            run: () => void navigate({ to: "/playground/$agent", params: { agent: name } }),
          },
          {
            label: "Plan",
            icon: PlanIcon,
            run: () => void navigate({ to: "/agents/$name/plan", params: { name } }),
          },
          {
            label: "Versions",
            icon: BranchIcon,
            disabled: !stored,
            hint: stored ? undefined : "It is defined in code",
            run: () => void navigate({ to: "/agents/$name/versions", params: { name } }),
          },
          { label: "Export as JSON", icon: DownloadIcon, run: () => void exportAgent(name) },
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
        agent={agent}
        open={open === "delete"}
        onClose={() => setOpen(undefined)}
        {...(onGone && { onGone })}
      />
    </>
  );
}

function useForgetAgents(): () => void {
  const queryClient = useQueryClient();
  return () => {
    void queryClient.invalidateQueries({ queryKey: ["agents", "list"] });
    void queryClient.invalidateQueries({ queryKey: ["registry"] });
  };
}

function CloneDialog({ name, open, onClose }: { name: string; open: boolean; onClose(): void }) {
  const [copy, setCopy] = useState(`${name}-copy`);
  const navigate = useNavigate();
  const forget = useForgetAgents();
  return (
    <Confirm
      open={open}
      onClose={onClose}
      title={`Clone ${name}`}
      description="The copy has the same definition and versions of its own."
      action="Clone agent"
      onConfirm={async () => {
        const made = await client.cloneAgent({ params: { name }, body: { name: copy } });
        forget();
        toast({ title: `Agent ${made.name} is made` });
        await navigate({ to: "/agents/$name", params: { name: made.name } });
      }}
    >
      <Field label="Name of the copy">
        <TextField mono value={copy} onChange={setCopy} spellCheck={false} autoComplete="off" />
      </Field>
    </Confirm>
  );
}

function DeleteDialog({
  agent,
  open,
  onClose,
  onGone,
}: {
  agent: ActedOn;
  open: boolean;
  onClose(): void;
  onGone?(): void;
}) {
  const forget = useForgetAgents();
  const { name, version, pending_approvals } = agent;
  return (
    <Confirm
      open={open}
      onClose={onClose}
      title={`Delete agent ${name}?`}
      description={
        <>
          Lost: its definition{version > 1 && ` and the way to its ${version} versions`}; nobody can start it
          any more. Its runs and conversations stay, and those under way go on with the definition they began
          with.
          {pending_approvals > 0 &&
            ` ${pending_approvals === 1 ? "One call still waits" : `${pending_approvals} calls still wait`} for a decision.`}
        </>
      }
      action={`Delete ${name}`}
      danger
      onConfirm={async () => {
        await client.deleteAgent({ params: { name } });
        forget();
        toast({ title: `Agent ${name} is deleted` });
        onGone?.();
      }}
    />
  );
}
