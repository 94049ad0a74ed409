import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { client, explain } from "../../api.ts";
import { plural } from "../../format/number.ts";
import { useKeys } from "../../keys/use-keys.ts";
import { one, useSearchState } from "../../search.ts";
import { useMay, WHO_MAY } from "../../session.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { copyText } from "../../ui/copy-button.tsx";
import {
  CopyIcon,
  DownloadIcon,
  LinkIcon,
  MoreIcon,
  PlayIcon,
  RetryIcon,
  StopIcon,
} from "../../ui/icons.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Select } from "../../ui/select.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { toast } from "../../ui/toast.tsx";
import { asCurl } from "./curl.ts";
import { RetryNode } from "./retry-node.tsx";
import type { RunLog } from "./run-log.ts";
import type { RunDetail } from "./types.ts";
import type { Graph } from "./use-nodes.ts";
import { canRetry, isOver, shortId } from "./words.ts";

/** What can be done with a run: stopped, retried, shared. */
export function RunActions({ run, log, graph }: { run: RunDetail; log: RunLog; graph: Graph | undefined }) {
  const [open, setOpen] = useState<"stop" | "retry">();
  const [search] = useSearchState();
  const may = useMay("operate");
  const over = isOver(run);
  const stoppable = !over && may;
  const isWorkflow = run.kind === "workflow";
  const retriable =
    may &&
    run.parent_run_id === null &&
    (isWorkflow ? canRetry(run) && graph !== undefined : run.steps + stepsOf(log).length > 0);
  const copy = async (text: string, what: string) => {
    if (await copyText(text)) toast({ title: `${what} is copied` });
    else toast({ kind: "problem", title: "Not copied", detail: "The browser did not allow it." });
  };
  const curl = () => asCurl(new URL(addressOf(run.id, one(search, "tab")), location.href).href);
  useKeys("Run", [
    { keys: "shift+s", what: "Stop the run", run: () => setOpen("stop"), enabled: stoppable },
    {
      keys: "shift+r",
      what: `Retry from a ${isWorkflow ? "node" : "step"}`,
      run: () => setOpen("retry"),
      enabled: retriable,
    },
    { keys: "c l", what: "Copy link", run: () => void copy(location.href, "The link") },
    { keys: "c c", what: "Copy as curl", run: () => void copy(curl(), "The command") },
  ]);
  const why = may ? undefined : `${WHO_MAY.operate} can`;
  return (
    <>
      {run.status === "parked" && <ResumeButton run={run} />}
      {!over && (
        <Button icon={StopIcon} disabled={!may} title={why} onClick={() => setOpen("stop")}>
          Stop
        </Button>
      )}
      <Button
        icon={RetryIcon}
        disabled={!retriable}
        title={why ?? (retriable ? undefined : notRetriable(run))}
        onClick={() => setOpen("retry")}
      >
        {isWorkflow ? "Retry from node…" : "Retry from step…"}
      </Button>
      <Menu
        trigger={<IconButton icon={MoreIcon} label="Copy and download" />}
        items={[
          {
            label: "Copy link",
            icon: LinkIcon,
            keys: "c l",
            run: () => void copy(location.href, "The link"),
          },
          { label: "Copy as curl", icon: CopyIcon, keys: "c c", run: () => void copy(curl(), "The command") },
          { label: "Download JSON", icon: DownloadIcon, run: () => download(run.id) },
        ]}
      />
      <StopDialog run={run} open={open === "stop"} onClose={() => setOpen(undefined)} />
      {open === "retry" && !isWorkflow && (
        <RetryDialog run={run} log={log} onClose={() => setOpen(undefined)} />
      )}
      {open === "retry" && graph && (
        <RetryNodeDialog run={run} graph={graph} onClose={() => setOpen(undefined)} />
      )}
    </>
  );
}

/** What the open tab shows, as the API has it. */
function addressOf(id: string, tab: string | undefined): string {
  const params = { id };
  switch (tab) {
    case "requests":
      return client.url("listRequests", { params });
    case "json":
      return client.url("exportRun", { params });
    case "definition":
      return client.url("getRun", { params });
    default:
      return client.url("listEvents", { params, query: { children: "true" } });
  }
}

function download(id: string): void {
  const link = document.createElement("a");
  link.href = client.url("exportRun", { params: { id } });
  link.download = `${id}.json`;
  link.click();
}

function ResumeButton({ run }: { run: RunDetail }) {
  const queries = useQueryClient();
  const may = useMay("operate");
  const [pending, setPending] = useState(false);
  const resume = async () => {
    setPending(true);
    try {
      await client.resumeRun({ params: { id: run.id } });
      toast({ title: "The run goes on" });
    } catch (error) {
      toast({ kind: "problem", title: "Not resumed", detail: explain(error) });
    } finally {
      setPending(false);
      void queries.invalidateQueries({ queryKey: ["runs"] });
    }
  };
  return (
    <Button
      kind="primary"
      icon={PlayIcon}
      pending={pending}
      disabled={!may}
      title={may ? undefined : `${WHO_MAY.operate} can`}
      onClick={resume}
    >
      Resume
    </Button>
  );
}

function StopDialog({ run, open, onClose }: { run: RunDetail; open: boolean; onClose(): void }) {
  const queries = useQueryClient();
  const [reason, setReason] = useState("");
  const below = run.sub_agents.filter((child) => !isOver(child)).length;
  const runs =
    run.kind === "workflow" ? plural(below, "run below it", "runs below it") : plural(below, "sub-agent");
  const also = below === 0 ? "" : run.kind === "workflow" ? ` and ${runs}` : ` and its ${runs}`;
  return (
    <Confirm
      open={open}
      onClose={onClose}
      title={`Stop ${run.agent} ${shortId(run.id)}?`}
      description={`The run${also} ends where it is. What tools have done stays done; what it was about to do is not done.`}
      action="Stop the run"
      danger
      onConfirm={async () => {
        const said = reason.trim();
        await client.cancelRun({ params: { id: run.id }, body: said === "" ? {} : { reason: said } });
        void queries.invalidateQueries({ queryKey: ["runs"] });
        toast({ title: "The run is stopped" });
      }}
    >
      <TextField
        aria-label="Reason"
        placeholder="Reason, for the record"
        value={reason}
        onChange={setReason}
        maxLength={2000}
      />
    </Confirm>
  );
}

function notRetriable({ kind, parent_run_id }: RunDetail): string {
  if (parent_run_id !== null) return "It is part of another run: retry that one";
  return kind === "workflow" ? "Once the run is over" : "Once it has begun a step";
}

/** From the node that is open, or else the first that failed. */
function RetryNodeDialog({ run, graph, onClose }: { run: RunDetail; graph: Graph; onClose(): void }) {
  const [search] = useSearchState();
  const { nodes } = graph;
  const shown = nodes.find(({ id }) => id === one(search, "node"));
  const failed = nodes.find(({ state, isHandled }) => state === "failed" && !isHandled);
  const stopped = nodes.find(({ state }) => state === "stopped" || state === "idle");
  const [node, setNode] = useState((shown ?? failed ?? stopped ?? nodes[0])?.id ?? "");
  return <RetryNode run={run} graph={graph} node={node} onChoose={setNode} onClose={onClose} />;
}

interface StepOption {
  readonly step: number;
  readonly what: string;
}

/** Steps of the run itself, with what each did. */
function stepsOf(log: RunLog): StepOption[] {
  return log.waterfall.roots
    .filter((row) => row.kind === "step" && row.step !== null)
    .map((row) => {
      const tools = row.children.filter(({ kind }) => kind === "tool").map(({ title }) => title);
      return { step: row.step ?? 1, what: tools.length === 0 ? "answer" : [...new Set(tools)].join(", ") };
    });
}

function RetryDialog({ run, log, onClose }: { run: RunDetail; log: RunLog; onClose(): void }) {
  const navigate = useNavigate();
  const [search] = useSearchState();
  const steps = stepsOf(log);
  const selected = log.waterfall.row(one(search, "event") ?? "");
  const own = selected?.runId === run.id ? selected.step : null;
  const [step, setStep] = useState(String(own ?? steps.at(-1)?.step ?? 1));
  return (
    <Confirm
      open
      onClose={onClose}
      title={`Retry ${run.agent} from a step?`}
      description="A new run on a new branch begins at the step. Nothing before it runs again; what the step and those after it do is done once more. This run stays as it is."
      action={`Retry from step ${step}`}
      onConfirm={async () => {
        const made = await client.retryRun({ params: { id: run.id }, body: { from_step: Number(step) } });
        void navigate({ to: "/runs/$id", params: { id: made.id } });
      }}
    >
      <Select
        aria-label="Step"
        value={step}
        onChange={setStep}
        options={steps.map((one) => ({ value: String(one.step), label: `Step ${one.step}: ${one.what}` }))}
      />
    </Confirm>
  );
}
