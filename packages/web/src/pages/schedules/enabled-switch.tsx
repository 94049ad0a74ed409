import { useMutation, useQueryClient } from "@tanstack/react-query";
import { client, explain } from "../../api.ts";
import { useMay } from "../../session.ts";
import { Switch } from "../../ui/switch.tsx";
import { toast } from "../../ui/toast.tsx";
import type { Schedule } from "./schedule.ts";

/** On or off, at once. */
export function EnabledSwitch({ schedule: { id, name, enabled } }: { schedule: Schedule }) {
  const may = useMay("operate");
  const queryClient = useQueryClient();
  const change = useMutation({
    mutationFn: (on: boolean) =>
      on
        ? client.enableSchedule({ params: { id }, body: {} })
        : client.disableSchedule({ params: { id }, body: {} }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["schedules"] }),
    onError: (error) => toast({ kind: "problem", title: `${name} was not switched`, detail: explain(error) }),
  });
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the row around it opens the schedule, and this must not
    <span
      role="presentation"
      className="inline-flex align-middle"
      onClick={(event) => event.stopPropagation()}
    >
      <Switch
        aria-label={`${name} is on`}
        checked={change.isPending ? change.variables : enabled}
        disabled={!may || change.isPending}
        onChange={(on) => change.mutate(on)}
      />
    </span>
  );
}
