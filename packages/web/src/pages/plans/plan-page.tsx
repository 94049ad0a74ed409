import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { client, explain } from "../../api.ts";
import { useKeys } from "../../keys/use-keys.ts";
import { one, useSearchState } from "../../search.ts";
import { useMay, WHO_MAY } from "../../session.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Field } from "../../ui/field.tsx";
import { EditIcon, PlayIcon, PlusIcon, StopIcon } from "../../ui/icons.tsx";
import { Page } from "../../ui/page.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { Loading } from "../../ui/states.tsx";
import { Tag } from "../../ui/status-badge.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { toast } from "../../ui/toast.tsx";
import { AutonomousCard } from "./autonomous-card.tsx";
import { type Draft, draftOf, draftOfVersion, EMPTY } from "./draft.ts";
import { GenerateDialog } from "./generate-dialog.tsx";
import { GenerationNote } from "./generation-note.tsx";
import { Goal } from "./goal.tsx";
import { NoPlan } from "./no-plan.tsx";
import { PlanEditor } from "./plan-editor.tsx";
import { Steps } from "./steps.tsx";
import { type Board, boardKey, boardQuery, isBusy, type Plan } from "./types.ts";
import { Versions } from "./versions.tsx";

/** What is it to do, how far is it, and who sees to it? */
export function PlanPage() {
  const { name } = useParams({ from: "/signed-in/agents/$name/plan" });
  const query = useQuery(boardQuery(name));
  return (
    <QueryState
      query={query}
      what={`The plan of ${name}`}
      loading={
        <Page title={`Plan of ${name}`}>
          <Loading shape="rows" />
        </Page>
      }
    >
      {(board) => <PlanOf key={board.agent_id} board={board} />}
    </QueryState>
  );
}

interface Editing {
  /** Undefined for a plan that is new. */
  readonly plan: Plan | undefined;
  readonly start: Draft;
}

function PlanOf({ board }: { board: Board }) {
  const { agent, plan, work, generation } = board;
  const may = useMay("operate");
  const [editing, setEditing] = useState<Editing>();
  const [generating, setGenerating] = useState(false);
  const [stopping, setStopping] = useState(false);
  const [reason, setReason] = useState("");
  const [search, setSearch] = useSearchState();
  const tab = one(search, "tab") === "versions" ? "versions" : "steps";
  const queryClient = useQueryClient();
  const refresh = () => queryClient.invalidateQueries({ queryKey: boardKey(agent) });
  const run = useMutation({
    mutationFn: (id: string) => client.runPlan({ params: { id }, body: {} }),
    onSettled: refresh,
    onError: (error) => toast({ kind: "problem", title: "The plan was not run", detail: explain(error) }),
  });

  const refused = may ? undefined : `${WHO_MAY.operate} can`;
  const isGenerating = generation?.state === "running";
  const left = plan?.steps.some(({ state }) => state === "pending") ?? false;
  const canRun = plan?.state === "active" && left && !isGenerating && work.state !== "working";
  const canStop = isBusy(board) || (board.autonomous.on && work.state !== "stopped");
  const edit = () => plan && setEditing({ plan, start: draftOf(plan) });
  useKeys("Plan", [
    { keys: "e", what: "Edit the plan", run: edit, enabled: may && plan !== null && !editing },
    { keys: "c", what: "Generate a plan", run: () => setGenerating(true), enabled: may && !editing },
  ]);

  return (
    <Page
      title={`Plan of ${agent}`}
      heading={
        <span className="flex min-w-0 flex-wrap items-center gap-2">
          <span className="min-w-0 break-words">Plan of {agent}</span>
          {plan && <Tag title={`Version ${plan.version}`}>v{plan.version}</Tag>}
        </span>
      }
      lead={
        <Link to="/agents/$name" params={{ name: agent }} className="text-sm text-accent underline">
          Back to {agent}
        </Link>
      }
      actions={
        plan &&
        !editing && (
          <>
            <Button icon={EditIcon} disabled={!may} title={refused} onClick={edit}>
              Edit plan
            </Button>
            <Button
              icon={PlusIcon}
              disabled={!may || isGenerating}
              title={refused}
              onClick={() => setGenerating(true)}
            >
              Generate
            </Button>
            {canStop ? (
              <Button
                kind="danger"
                icon={StopIcon}
                disabled={!may}
                title={refused}
                onClick={() => setStopping(true)}
              >
                Stop
              </Button>
            ) : (
              <Button
                kind="primary"
                icon={PlayIcon}
                disabled={!may || !canRun}
                title={refused ?? (canRun ? undefined : "There is nothing left to run")}
                pending={run.isPending}
                onClick={() => run.mutate(plan.id)}
              >
                Run all
              </Button>
            )}
          </>
        )
      }
    >
      <GenerationNote board={board} onRetry={() => setGenerating(true)} mayRetry={may} />
      {editing ? (
        <PlanEditor
          agent={agent}
          // As it is now: what runs meanwhile can no longer be changed.
          plan={plan !== null && plan.id === editing.plan?.id ? plan : editing.plan}
          start={editing.start}
          onDone={() => setEditing(undefined)}
        />
      ) : plan === null ? (
        <div className="flex flex-col gap-4">
          <NoPlan
            agent={agent}
            refused={refused}
            isGenerating={isGenerating}
            onWrite={() => setEditing({ plan: undefined, start: EMPTY })}
            onGenerate={() => setGenerating(true)}
          />
          {board.autonomous.on && <AutonomousCard board={board} />}
        </div>
      ) : (
        <div className="flex flex-col gap-4">
          <Goal board={board} plan={plan} />
          <Tabs
            aria-label="Parts of the plan"
            value={tab}
            onChange={(next) =>
              setSearch({ tab: next === "steps" ? undefined : next, from: undefined, to: undefined })
            }
            tabs={[
              {
                value: "steps",
                label: "Steps",
                count: plan.steps.length,
                content: (
                  <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,1fr)_20rem]">
                    <Steps
                      plan={plan}
                      refused={refused ?? (isGenerating ? "A plan is being generated" : undefined)}
                      onChanged={refresh}
                      onEdit={edit}
                    />
                    <AutonomousCard board={board} />
                  </div>
                ),
              },
              {
                value: "versions",
                label: "Versions",
                content: (
                  <Versions
                    agent={agent}
                    refused={refused}
                    onReuse={(version) => setEditing({ plan: undefined, start: draftOfVersion(version) })}
                  />
                ),
              },
            ]}
          />
        </div>
      )}
      {generating && <GenerateDialog board={board} onClose={() => setGenerating(false)} />}
      {plan && (
        <Confirm
          open={stopping}
          onClose={() => setStopping(false)}
          title={`Stop the work of ${agent}?`}
          description="Runs of its steps are cancelled: what they did stays done, and the steps can be run again. Nothing begins by itself until somebody runs the plan."
          action="Stop"
          danger
          onConfirm={async () => {
            const body = reason.trim() === "" ? {} : { reason: reason.trim() };
            await client.stopPlan({ params: { id: plan.id }, body });
            setReason("");
            await refresh();
          }}
        >
          <Field label="Why" aside="optional">
            <TextField value={reason} onChange={setReason} maxLength={2000} />
          </Field>
        </Confirm>
      )}
    </Page>
  );
}
