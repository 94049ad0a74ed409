import { type ReactNode, useState } from "react";
import { Button, IconButton } from "../src/ui/button.tsx";
import { CodeBlock } from "../src/ui/code-block.tsx";
import { Combobox, MultiSelect } from "../src/ui/combobox.tsx";
import { Confirm } from "../src/ui/confirm.tsx";
import { CopyButton } from "../src/ui/copy-button.tsx";
import { Dialog, Drawer } from "../src/ui/dialog.tsx";
import { DiffView } from "../src/ui/diff-view.tsx";
import { Field } from "../src/ui/field.tsx";
import * as icons from "../src/ui/icons.tsx";
import { JsonView } from "../src/ui/json-view.tsx";
import { KeyHint } from "../src/ui/key-hint.tsx";
import { Markdown } from "../src/ui/markdown.tsx";
import { Menu } from "../src/ui/menu.tsx";
import { Meter, ProgressBar } from "../src/ui/meter.tsx";
import { NewRowsBar } from "../src/ui/new-rows-bar.tsx";
import { NumberField } from "../src/ui/number-field.tsx";
import { Bytes, Money, Share, Tokens } from "../src/ui/numbers.tsx";
import { Plot } from "../src/ui/plot.tsx";
import { SegmentedControl } from "../src/ui/segmented-control.tsx";
import { Select } from "../src/ui/select.tsx";
import { Slider } from "../src/ui/slider.tsx";
import { Empty, ErrorState, Loading, NoPermission } from "../src/ui/states.tsx";
import { STATUSES, type Status, StatusBadge, Tag } from "../src/ui/status-badge.tsx";
import { Switch } from "../src/ui/switch.tsx";
import { type Column, Table } from "../src/ui/table.tsx";
import { Tabs } from "../src/ui/tabs.tsx";
import { SearchField, TextArea, TextField } from "../src/ui/text-field.tsx";
import { Countdown, Duration, Time } from "../src/ui/time.tsx";
import { ToastRegion, toast } from "../src/ui/toast.tsx";
import { Tooltip } from "../src/ui/tooltip.tsx";

/** Every component in its states: to look at, in development only. */
export function Gallery() {
  return (
    <main className="mx-auto flex max-w-300 flex-col gap-8 p-4">
      <h1 className="text-xl font-semibold">Components</h1>
      <Section title="Buttons">
        <Button kind="primary">Approve deploy_service</Button>
        <Button icon={icons.CopyIcon}>Copy as curl</Button>
        <Button kind="danger">Delete clerk</Button>
        <Button kind="quiet">Cancel</Button>
        <Button kind="primary" pending>
          Save agent
        </Button>
        <Button disabled>Restore</Button>
        <Button size="small">Small</Button>
        <IconButton icon={icons.MoreIcon} label="More" />
        <CopyButton text="x" label="Copy link" labelled />
        <KeyHint keys="g o" />
        <KeyHint keys="mod+enter" />
      </Section>
      <Section title="Status, time and numbers">
        {STATUSES.map((status) => (
          <StatusBadge key={status} status={status} />
        ))}
        <Tag>gated</Tag>
        <Time at={Date.now() - 260_000} />
        <Duration ms={187_400} />
        <Duration since={Date.now() - 5000} />
        <Countdown until={Date.now() + 40_000} />
        <Countdown until={Date.now() + 4_000_000} />
        <Money value={0.0042} />
        <Tokens value={128_400} />
        <Share value={0.125} />
        <Bytes value={3_400_000} />
      </Section>
      <Fields />
      <Overlays />
      <Rows />
      <TabsAndStates />
      <Values />
    </main>
  );
}

function Section({ title, children, column }: { title: string; children: ReactNode; column?: boolean }) {
  return (
    <section className="min-w-0">
      <h2 className="mb-2 text-lg font-semibold">{title}</h2>
      <div className={column ? "flex min-w-0 flex-col gap-3" : "flex flex-wrap items-center gap-3"}>
        {children}
      </div>
    </section>
  );
}

const TOOLS = ["deploy_service", "refund_order", "read_file", "search_docs"].map((value) => ({
  value,
  label: value,
}));

function Fields() {
  const [name, setName] = useState("clerk");
  const [text, setText] = useState("You are careful.\nYou ask before you act.");
  const [number, setNumber] = useState<number | undefined>(30_000);
  const [on, setOn] = useState(true);
  const [mode, setMode] = useState<"off" | "message" | "limit">("limit");
  const [model, setModel] = useState<"small" | "large">();
  const [tool, setTool] = useState<string>();
  const [tools, setTools] = useState(["deploy_service", "gone_tool"]);
  const [slide, setSlide] = useState(3);
  const [search, setSearch] = useState("");
  return (
    <section className="grid gap-4 md:grid-cols-2">
      <Field label="Name" hint="Lower case letters, digits and dashes.">
        <TextField value={name} onChange={setName} mono />
      </Field>
      <Field label="Name" problem='"Clerk 1" has a space in it; allowed are letters, digits, "-" and "_".'>
        <TextField value="Clerk 1" onChange={() => {}} mono />
      </Field>
      <Field label="Instructions" aside="optional">
        <TextArea value={text} onChange={setText} />
      </Field>
      <Field label="Time limit" hint="A step that takes longer is an error.">
        <NumberField value={number} onChange={setNumber} min={0} step={1000} unit="ms" />
      </Field>
      <Field label="Plan before acting" hint="Shown beside the transcript." inline>
        <Switch checked={on} onChange={setOn} />
      </Field>
      <Field label="Off and disabled" inline disabled>
        <Switch checked={false} onChange={() => {}} disabled />
      </Field>
      <Field label="Budget">
        <SegmentedControl
          value={mode}
          onChange={setMode}
          options={[
            { value: "off", label: "Off" },
            { value: "message", label: "Per message" },
            { value: "limit", label: "Limit" },
          ]}
        />
      </Field>
      <Field label="Parallel sub-agents">
        <Slider value={slide} onChange={setSlide} min={1} max={7} format={(value) => `${value} at once`} />
      </Field>
      <Field label="Model">
        <Select
          value={model}
          onChange={setModel}
          options={[
            { value: "small", label: "Small", hint: "Fast and cheap" },
            { value: "large", label: "Large" },
          ]}
        />
      </Field>
      <Field label="Tool">
        <Combobox value={tool} onChange={setTool} options={TOOLS} placeholder="Find a tool" mono />
      </Field>
      <Field label="Gated tools" problem="gone_tool is not registered: remove it or register it.">
        <MultiSelect
          value={tools}
          onChange={setTools}
          options={TOOLS}
          mono
          isOrphan={(value) => !TOOLS.some((one) => one.value === value)}
        />
      </Field>
      <SearchField label="Search runs" value={search} onChange={setSearch} />
    </section>
  );
}

function Overlays() {
  const [open, setOpen] = useState<"dialog" | "drawer" | "confirm">();
  const close = () => setOpen(undefined);
  return (
    <Section title="Over the page">
      <Button onClick={() => setOpen("dialog")}>Open dialog</Button>
      <Button onClick={() => setOpen("drawer")}>Open drawer</Button>
      <Button onClick={() => setOpen("confirm")}>Open confirm</Button>
      <Menu
        trigger={<Button>Open menu</Button>}
        items={[
          { label: "Clone", icon: icons.CopyIcon, keys: "c", run: () => {} },
          { label: "Export", icon: icons.DownloadIcon, run: () => {} },
          null,
          { label: "Delete", icon: icons.TrashIcon, danger: true, run: () => {} },
        ]}
      />
      <Tooltip content="Prompt cache: 12,400 of 20,000 tokens">
        <button type="button" className="underline decoration-dotted">
          Hover me
        </button>
      </Tooltip>
      <Button onClick={() => toast({ title: "Agent clerk is saved", detail: "Version 4" })}>
        Say something
      </Button>
      <Button
        onClick={() =>
          toast({ kind: "problem", title: "Not saved", detail: "Someone saved version 5 while you edited." })
        }
      >
        Say a problem
      </Button>
      <Dialog
        open={open === "dialog"}
        onClose={close}
        title="Reject deploy_service"
        description="The agent is told your reason and goes on without the call."
        actions={
          <>
            <Button onClick={close}>Cancel</Button>
            <Button kind="primary">Reject</Button>
          </>
        }
      >
        <Field label="Reason">
          <TextArea value="" onChange={() => {}} rows={3} />
        </Field>
      </Dialog>
      <Drawer open={open === "drawer"} onClose={close} title="Step 4: model call">
        <p>What happened, and why.</p>
      </Drawer>
      <Confirm
        open={open === "confirm"}
        onClose={close}
        title="Delete agent clerk?"
        description="Its 4 versions are lost. Its 212 runs stay."
        action="Delete clerk"
        danger
        onConfirm={() => Promise.reject(new Error("clerk has 2 runs under way: stop them first."))}
      />
      <ToastRegion />
    </Section>
  );
}

interface Run {
  id: string;
  status: Status;
  agent: string;
  at: number;
  tokens: number;
  cost: number;
}

const RUNS: Run[] = Array.from({ length: 500 }, (_, at) => ({
  id: `run_${(at * 7919).toString(36).padStart(8, "0")}`,
  status: STATUSES[at % STATUSES.length] ?? "Done",
  agent: ["clerk", "researcher", "deployer"][at % 3] ?? "",
  at: Date.now() - at * 97_000,
  tokens: (at * 7919) % 200_000,
  cost: ((at * 31) % 1000) / 997,
}));

const COLUMNS: Column<Run>[] = [
  { id: "status", head: "Status", width: "150px", cell: (run) => <StatusBadge status={run.status} /> },
  { id: "agent", head: "Agent", cell: (run) => run.agent },
  {
    id: "id",
    head: "Run",
    hideOnPhone: true,
    cell: (run) => <code className="font-mono text-sm">{run.id}</code>,
  },
  { id: "at", head: "Started", sortable: true, width: "110px", cell: (run) => <Time at={run.at} /> },
  {
    id: "tokens",
    head: "Tokens",
    align: "right",
    hideOnPhone: true,
    cell: (run) => <Tokens value={run.tokens} />,
  },
  { id: "cost", head: "Cost", align: "right", hideOnPhone: true, cell: (run) => <Money value={run.cost} /> },
];

function Rows() {
  const [selected, setSelected] = useState<string | undefined>(RUNS[2]?.id);
  const [sort, setSort] = useState({ column: "at", descending: true });
  return (
    <Section title="Rows" column>
      <div>
        <NewRowsBar count={3} one="run" onShow={() => {}} />
        <Table
          label="Runs"
          columns={COLUMNS}
          rows={RUNS}
          rowKey={(run) => run.id}
          selected={selected}
          onOpen={(run) => setSelected(run.id)}
          sort={sort}
          onSort={setSort}
          virtual={{ height: "300px" }}
        />
      </div>
    </Section>
  );
}

function TabsAndStates() {
  const [tab, setTab] = useState<"empty" | "loading" | "error" | "permission">("empty");
  return (
    <Section title="Tabs and states" column>
      <Tabs
        aria-label="States"
        value={tab}
        onChange={setTab}
        tabs={[
          {
            value: "empty",
            label: "Empty",
            count: 0,
            content: (
              <Empty
                title="No runs yet"
                icon={icons.RunsIcon}
                action={<Button kind="primary">Start a run</Button>}
                code='trackside run clerk "Refund order 17"'
              >
                A run is one task of an agent, from its input to its answer.
              </Empty>
            ),
          },
          { value: "loading", label: "Loading", content: <Loading count={4} /> },
          {
            value: "error",
            label: "Error",
            content: (
              <ErrorState
                what="Runs could not be loaded"
                why="The server could not be reached."
                next="Check that it runs, then try again."
                retry={() => {}}
              />
            ),
          },
          {
            value: "permission",
            label: "No permission",
            content: <NoPermission what="decide approvals" who="An approver or admin" />,
          },
        ]}
      />
    </Section>
  );
}

const DEFINITION = {
  name: "clerk",
  instructions: "You are careful.\nYou ask before you act.",
  tools: ["deploy_service", "refund_order"],
  budget: { mode: "limit", tokens: 20_000 },
  planning: null,
  parallel: { enabled: true, most: 3 },
};

const TIMES = Array.from({ length: 60 }, (_, at) => Date.UTC(2026, 10, 15, 20) + at * 60_000);

function Values() {
  return (
    <Section title="Values" column>
      <div className="grid min-w-0 gap-3 md:grid-cols-2">
        <JsonView label="Definition" value={DEFINITION} />
        <DiffView
          label="Definition"
          before={DEFINITION}
          after={{ ...DEFINITION, budget: { mode: "off" }, tools: ["deploy_service"] }}
        />
        <CodeBlock
          label="Command"
          code={'curl -s http://127.0.0.1:4711/api/v1/runs \\\n  -H "authorization: Bearer $TOKEN"'}
        />
        <CodeBlock
          label="Many lines"
          code={Array.from({ length: 900 }, (_, at) => `line ${at}`).join("\n")}
          className="max-h-60 overflow-hidden"
        />
      </div>
      <Markdown
        text={
          '## Refund\n\nOrder **17** is refunded, see [the order](https://example.com/17) and `order.json`.\n\n![chart](https://example.com/x.png)\n\n| Item | Sum |\n|---|---|\n| Tea | 4.20 |\n\n```json\n{ "ok": true }\n```\n\n- one\n- two\n\n> Quoted <b>html</b>'
        }
      />
      <div className="grid gap-4 md:grid-cols-3">
        <Meter label="Context" value={42_000} max={200_000} text="42k of 200k tokens" marks={[0.6, 0.8]} />
        <Meter label="Budget" value={17_000} max={20_000} text="17k of 20k tokens" />
        <Meter label="Budget" value={20_000} max={20_000} text="all of 20k tokens" />
        <ProgressBar label="Copying files" value={3} total={10} />
        <ProgressBar label="Working" />
      </div>
      <Plot
        title="Runs"
        unit="runs a minute"
        times={TIMES}
        series={[
          { id: "done", label: "Done", values: TIMES.map((_, at) => Math.round(20 + 10 * Math.sin(at / 6))) },
          {
            id: "failed",
            label: "Failed",
            colour: "red",
            values: TIMES.map((_, at) => (at % 17 === 0 ? 4 : 1)),
          },
        ]}
        onSelect={(from, to) => toast({ title: "Selected", detail: `${from} to ${to}` })}
      />
    </Section>
  );
}
