import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { client, explain } from "../../api.ts";
import { useSearchState } from "../../search.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Field } from "../../ui/field.tsx";
import { EditIcon } from "../../ui/icons.tsx";
import { Empty } from "../../ui/states.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { toast } from "../../ui/toast.tsx";
import { StepRow } from "./step-row.tsx";
import type { Plan, Step } from "./types.ts";

/** The steps in their order, and what can be done with each. */
export function Steps({
  plan,
  refused,
  onChanged,
  onEdit,
}: {
  plan: Plan;
  refused: string | undefined;
  onChanged(): Promise<void>;
  onEdit(): void;
}) {
  const [search, setSearch] = useSearchState();
  const open = new Set([search["step"] ?? []].flat());
  const [skipping, setSkipping] = useState<Step>();
  const [why, setWhy] = useState("");
  const act = useMutation({
    mutationFn: ({ what, step }: { what: "run" | "verify"; step: Step }) => {
      const request = { params: { id: plan.id, step: step.id }, body: {} };
      return what === "run" ? client.runPlanStep(request) : client.verifyPlanStep(request);
    },
    onSettled: onChanged,
    onError: (error, { what, step }) =>
      toast({
        kind: "problem",
        title: `${step.title} was not ${what === "run" ? "run" : "verified"}`,
        detail: explain(error),
      }),
  });
  const toggle = (id: string) => {
    const next = new Set(open);
    if (!next.delete(id)) next.add(id);
    setSearch({ step: [...next] });
  };
  if (plan.steps.length === 0)
    return (
      <Empty
        title="No steps yet"
        action={
          <Button icon={EditIcon} disabled={refused !== undefined} title={refused} onClick={onEdit}>
            Write the steps
          </Button>
        }
      >
        A plan is worked on step by step: write them, or have them generated for this goal.
      </Empty>
    );
  return (
    <>
      <ol aria-label="Steps" className="min-w-0 rounded-md border border-line">
        {plan.steps.map((step, at) => (
          <StepRow
            key={step.id}
            plan={plan}
            step={step}
            at={at}
            isOpen={open.has(step.id)}
            onToggle={() => toggle(step.id)}
            actions={{
              refused,
              pending: act.isPending ? act.variables.step.id : undefined,
              run: (chosen) => act.mutate({ what: "run", step: chosen }),
              verify: (chosen) => act.mutate({ what: "verify", step: chosen }),
              skip: setSkipping,
            }}
          />
        ))}
      </ol>
      {skipping && (
        <Confirm
          open
          onClose={() => setSkipping(undefined)}
          title={`Skip ${skipping.title}?`}
          description="It counts as done: steps after it may run, and are told that it gave nothing. It can still be run later."
          action="Skip step"
          onConfirm={async () => {
            const body = why.trim() === "" ? {} : { reason: why.trim() };
            await client.skipPlanStep({ params: { id: plan.id, step: skipping.id }, body });
            setWhy("");
            await onChanged();
          }}
        >
          <Field label="Why" aside="optional">
            <TextField value={why} onChange={setWhy} maxLength={2000} />
          </Field>
        </Confirm>
      )}
    </>
  );
}
