import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { client, explain } from "../../api.ts";
import { useKeys } from "../../keys/use-keys.ts";
import { one, useSearchState } from "../../search.ts";
import { useMay, WHO_MAY } from "../../session.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { PlayIcon, TrashIcon } from "../../ui/icons.tsx";
import { Page } from "../../ui/page.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { Loading } from "../../ui/states.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Time } from "../../ui/time.tsx";
import { toast } from "../../ui/toast.tsx";
import { draftOf } from "./draft.ts";
import { FiringState } from "./firing-state.tsx";
import { History } from "./history.tsx";
import { type SavedSchedule, type ScheduleDetail, timeIn } from "./schedule.ts";
import { ScheduleEditor } from "./schedule-editor.tsx";
import { SecretDialog } from "./secret-dialog.tsx";
import { WebhookPanel } from "./webhook-panel.tsx";

/** What does it start, when next, and how did it go? */
export function SchedulePage() {
  const { id } = useParams({ from: "/signed-in/schedules/$id" });
  const [search, setSearch] = useSearchState();
  const tab = one(search, "tab") === "history" ? "history" : "schedule";
  const may = useMay("operate");
  const [secret, setSecret] = useState<SavedSchedule>();
  const query = useQuery({
    queryKey: ["schedules", "one", id],
    queryFn: ({ signal }) => client.getSchedule({ params: { id } }, { signal }),
    refetchInterval: 5_000,
  });
  const { data } = query;
  return (
    <Page
      title={data?.name ?? "Schedule"}
      lead={data && <Lead schedule={data} />}
      actions={data && <Actions schedule={data} may={may} />}
    >
      <QueryState query={query} what="Schedule" loading={<Loading shape="form" />}>
        {(schedule) => (
          <Tabs
            aria-label="Parts of the schedule"
            value={tab}
            onChange={(next) => setSearch({ tab: next === "schedule" ? undefined : next })}
            tabs={[
              {
                value: "schedule",
                label: "Schedule",
                content: (
                  <div className="flex flex-col gap-8">
                    {!may && (
                      <p className="text-sm text-muted">{`Read-only for you. ${WHO_MAY.operate} can edit it.`}</p>
                    )}
                    <ScheduleEditor
                      key={schedule.id}
                      record={schedule}
                      start={draftOf(schedule)}
                      readOnly={!may}
                      onSaved={setSecret}
                    />
                    <WebhookPanel schedule={schedule} may={may} onSecret={setSecret} />
                  </div>
                ),
              },
              { value: "history", label: "History", content: <History schedule={schedule} /> },
            ]}
          />
        )}
      </QueryState>
      <SecretDialog saved={secret} onClose={() => setSecret(undefined)} />
    </Page>
  );
}

function Lead({ schedule }: { schedule: ScheduleDetail }) {
  const { trigger, next_at, enabled, last, target } = schedule;
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
      <span>
        starts {target.kind} {target.name}
      </span>
      {enabled && next_at !== null && trigger.kind === "cron" && (
        <span title={timeIn(trigger.time_zone, next_at)}>
          next <Time at={next_at} className="min-w-0" />
        </span>
      )}
      {!enabled && <span>switched off</span>}
      {last && (
        <span className="inline-flex items-center gap-2">
          last <FiringState firing={last} target={target} /> <Time at={last.fired_at} className="min-w-0" />
        </span>
      )}
    </span>
  );
}

function Actions({ schedule, may }: { schedule: ScheduleDetail; may: boolean }) {
  const { id, name } = schedule;
  const [asking, setAsking] = useState(false);
  const [firing, setFiring] = useState(false);
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const fire = async () => {
    setFiring(true);
    try {
      const fired = await client.fireSchedule({ params: { id } });
      await queryClient.invalidateQueries({ queryKey: ["schedules"] });
      const { run_id, state, reason } = fired;
      if (state === "failed")
        toast({ kind: "problem", title: `${name} could not start`, detail: reason ?? "" });
      else if (run_id === null) toast({ title: `${name} is started` });
      else
        toast({
          title: `${name} is started`,
          action: {
            label: "Open the run",
            run: () => void navigate({ to: "/runs/$id", params: { id: run_id } }),
          },
        });
    } catch (error) {
      toast({ kind: "problem", title: `${name} was not started`, detail: explain(error) });
    } finally {
      setFiring(false);
    }
  };
  useKeys("Schedule", [{ keys: "r", what: "Run it now", run: () => void fire(), enabled: may }]);
  const why = may ? undefined : `${WHO_MAY.operate} can do that`;
  return (
    <>
      <Button icon={PlayIcon} disabled={!may} title={why} pending={firing} onClick={() => void fire()}>
        Run now
      </Button>
      <Button icon={TrashIcon} disabled={!may} title={why} onClick={() => setAsking(true)}>
        Delete
      </Button>
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title={`Delete schedule ${name}?`}
        description="It starts nothing any more, and its history is lost. Runs that it started stay."
        action={`Delete ${name}`}
        danger
        onConfirm={async () => {
          await client.deleteSchedule({ params: { id } });
          toast({ title: `Schedule ${name} is deleted` });
          await navigate({ to: "/schedules" });
          await queryClient.invalidateQueries({ queryKey: ["schedules", "list"] });
        }}
      />
    </>
  );
}
