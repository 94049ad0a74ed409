import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { client, explain } from "../../api.ts";
import { useMay, WHO_MAY } from "../../session.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Field } from "../../ui/field.tsx";
import { Switch } from "../../ui/switch.tsx";
import { Time } from "../../ui/time.tsx";
import { toast } from "../../ui/toast.tsx";
import type { Board } from "./types.ts";

/** Whether the agent works its plan by itself, and since when and by whose hand. */
export function AutonomousCard({ board }: { board: Board }) {
  const { agent, autonomous, work } = board;
  const may = useMay("admin");
  const [asking, setAsking] = useState(false);
  const queryClient = useQueryClient();
  const change = useMutation({
    mutationFn: async (on: boolean) => {
      const { definition, version } = await client.getAgent({ params: { name: agent } });
      return client.saveAgent({
        params: { name: agent },
        body: {
          definition,
          version,
          autonomous_mode: on,
          note: `Autonomous mode ${on ? "on" : "off"}`,
        },
      });
    },
    onSuccess: (_, on) => {
      void queryClient.invalidateQueries({ queryKey: ["plans"] });
      void queryClient.invalidateQueries({ queryKey: ["agents"] });
      toast({ title: `Autonomous mode of ${agent} is ${on ? "on" : "off"}` });
    },
    onError: (error) =>
      toast({ kind: "problem", title: "The autonomous mode was not changed", detail: explain(error) }),
  });
  const refused = !autonomous.available
    ? "An agent in code has no autonomous mode. Clone it to give the copy one."
    : may
      ? undefined
      : `${WHO_MAY.admin} can switch it.`;
  return (
    <section aria-label="Autonomous mode" className="rounded-md border border-line bg-panel px-3 py-2">
      <Field
        label="Works by itself"
        inline
        disabled={refused !== undefined || change.isPending}
        hint={
          refused ??
          "On: the active plan is worked on in the background, behind the agent's rails, approvals and limits."
        }
      >
        <Switch
          checked={autonomous.on}
          onChange={(on) => (on ? setAsking(true) : change.mutate(false))}
          disabled={refused !== undefined || change.isPending}
        />
      </Field>
      {autonomous.on && (
        <p className="mt-1 text-xs text-muted">
          On{autonomous.by && ` by ${autonomous.by}`}{" "}
          {autonomous.at !== null && <Time at={autonomous.at} className="min-w-0!" />}
        </p>
      )}
      {autonomous.on && work.state === "stopped" && (
        <p className="mt-1 text-xs text-muted">Stopped until somebody runs the plan again.</p>
      )}
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title={`Let ${agent} work by itself?`}
        description="From now on it works its active plan in the background, and every plan it is given later, at your cost. Approvals still wait for people, and Stop works at any time."
        action="Switch it on"
        onConfirm={async () => {
          await change.mutateAsync(true);
        }}
      />
    </section>
  );
}
