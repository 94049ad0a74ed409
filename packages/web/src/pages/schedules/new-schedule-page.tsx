import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { one, useSearchState } from "../../search.ts";
import { useMay, WHO_MAY } from "../../session.ts";
import { Page } from "../../ui/page.tsx";
import { NoPermission } from "../../ui/states.tsx";
import { newDraft } from "./draft.ts";
import type { SavedSchedule } from "./schedule.ts";
import { ScheduleEditor } from "./schedule-editor.tsx";
import { SecretDialog } from "./secret-dialog.tsx";

/** `?agent=clerk` and `?workflow=triage` say what it starts. */
export function NewSchedulePage() {
  const may = useMay("operate");
  const navigate = useNavigate();
  const [search] = useSearchState();
  const [agent, workflow] = [one(search, "agent"), one(search, "workflow")];
  const start = useMemo(() => {
    if (workflow !== undefined) return newDraft({ kind: "workflow", name: workflow });
    return newDraft(agent === undefined ? undefined : { kind: "agent", name: agent });
  }, [agent, workflow]);
  const [made, setMade] = useState<SavedSchedule>();
  const open = ({ id }: SavedSchedule) => void navigate({ to: "/schedules/$id", params: { id } });
  return (
    <Page title="New schedule">
      {may ? (
        <ScheduleEditor
          start={start}
          readOnly={false}
          onSaved={(saved) => (saved.secret === undefined ? open(saved) : setMade(saved))}
        />
      ) : (
        <NoPermission what="make schedules" who={WHO_MAY.operate} />
      )}
      <SecretDialog saved={made} onClose={() => made && open(made)} />
    </Page>
  );
}
