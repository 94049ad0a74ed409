import { useMemo, useState } from "react";
import type { Condition, JsonObject } from "trackside/schema";
import type { Path } from "../../../forms/path.ts";
import { Button, IconButton } from "../../../ui/button.tsx";
import { Field } from "../../../ui/field.tsx";
import { CloseIcon, CopyIcon, TrashIcon } from "../../../ui/icons.tsx";
import { NumberField } from "../../../ui/number-field.tsx";
import { SegmentedControl } from "../../../ui/segmented-control.tsx";
import { Switch } from "../../../ui/switch.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import {
  type Edge,
  edgeFrom,
  edgeId,
  edgesOf,
  type NodeDraft,
  type NodeDraftOf,
  PORT_WORDS,
  portOf,
  titleOf,
} from "../draft/definition.ts";
import { KIND_WORDS } from "../draft/words.ts";
import { ScopeContext, useAt, useWorkflowEditor } from "../editor/context.ts";
import { ConditionInput } from "./condition-input.tsx";
import { DurationInput } from "./duration-input.tsx";
import { EntriesInput } from "./entries-input.tsx";
import { Inset, Part, Row } from "./row.tsx";
import { SchemaInput } from "./schema-input.tsx";
import { TextRow, WorkFields } from "./work-fields.tsx";

/** Everything that can be said of a node. */
export function NodePanel({
  id,
  node,
  onRename,
  onRemove,
  onDuplicate,
  onConnect,
}: {
  id: string;
  node: NodeDraft;
  onRename(to: string): void;
  onRemove(): void;
  onDuplicate(): void;
  /** Asks for what comes next. */
  onConnect(): void;
}) {
  const { readOnly } = useWorkflowEditor();
  const path = useMemo(() => ["nodes", id], [id]);
  const scope = useMemo(() => ({ node: id, inMap: false }), [id]);
  return (
    <ScopeContext value={scope}>
      <div className="flex min-w-0 flex-col gap-4">
        <p className="text-sm text-muted">{KIND_WORDS[node.kind].about}.</p>
        <NameRow path={path} id={id} />
        <KindFields path={path} id={id} node={node} />
        <Next id={id} onConnect={onConnect} />
        <Endurance path={path} node={node} />
        <IdRow key={id} id={id} onRename={onRename} />
        {!readOnly && (
          <div className="flex gap-2 border-t border-line pt-3">
            <Button size="small" icon={CopyIcon} onClick={onDuplicate}>
              Duplicate
            </Button>
            <Button size="small" icon={TrashIcon} onClick={onRemove}>
              Remove node
            </Button>
          </div>
        )}
      </div>
    </ScopeContext>
  );
}

function NameRow({ path, id }: { path: Path; id: string }) {
  const at = [...path, "name"];
  const { value, set } = useAt(at);
  return (
    <Row path={at} label="Name" aside="optional">
      <TextField
        value={typeof value === "string" ? value : ""}
        placeholder={id}
        maxLength={128}
        onChange={(next) => set(next === "" ? undefined : next)}
      />
    </Row>
  );
}

const ID = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** Edges and templates that refer to the node follow, so it is said when it is done and not with every letter. */
function IdRow({ id, onRename }: { id: string; onRename(to: string): void }) {
  const { definition, readOnly } = useWorkflowEditor();
  const [typed, setTyped] = useState(id);
  const taken = typed !== id && Object.hasOwn(definition.nodes, typed);
  const problem = taken
    ? `another node is called ${typed}`
    : !ID.test(typed) && "a letter, then up to 63 letters, digits, '_' or '-'";
  const rename = () => {
    if (typed !== id && !problem) onRename(typed);
  };
  return (
    <Field
      label="Id"
      hint={`Templates refer to it: {{ nodes.${id} }}. Edges and templates follow when you change it.`}
      problem={problem}
      disabled={readOnly}
    >
      <TextField
        mono
        spellCheck={false}
        autoComplete="off"
        value={typed}
        onChange={setTyped}
        onBlur={rename}
        onKeyDown={(event) => {
          if (event.key === "Enter") rename();
        }}
      />
    </Field>
  );
}

function KindFields({ path, id, node }: { path: Path; id: string; node: NodeDraft }) {
  switch (node.kind) {
    case "agent":
    case "tool":
    case "workflow":
      return <WorkFields path={path} work={node} />;
    case "condition":
      return <ConditionFields path={path} condition={node.if} />;
    case "map":
      return <MapFields path={path} id={id} node={node} />;
    case "approval":
      return <ApprovalFields path={path} />;
    case "wait":
      return <WaitFields path={path} node={node} />;
  }
}

function ConditionFields({ path, condition }: { path: Path; condition: Condition }) {
  const at = [...path, "if"];
  const { set } = useAt(at);
  return (
    <Part
      path={at}
      label="If"
      hint="Goes on by true or by false. Numbers, true, false and null are what they look like."
    >
      <ConditionInput
        path={at}
        condition={condition}
        onChange={(next) => set(next as JsonObject)}
        label="Condition"
      />
    </Part>
  );
}

function MapFields({ path, id, node }: { path: Path; id: string; node: NodeDraftOf<"map"> }) {
  const { readOnly } = useWorkflowEditor();
  const work = useAt([...path, "do"]);
  const concurrency = useAt([...path, "concurrency"]);
  const onError = useAt([...path, "on_error"]);
  const scope = useMemo(() => ({ node: id, inMap: true }), [id]);
  return (
    <>
      <TextRow
        path={[...path, "over"]}
        label="List"
        hint="What it goes through, such as {{ nodes.find.orders }}."
        placeholder="{{ input.… }}"
      />
      <Part label="With each entry" hint="{{ item }} is the entry, {{ index }} which one it is.">
        <SegmentedControl
          aria-label="What is done with each entry"
          value={node.do.kind}
          disabled={readOnly}
          onChange={(kind) =>
            work.set(
              kind === "agent"
                ? { kind, agent: "", prompt: "{{ item }}" }
                : kind === "tool"
                  ? { kind, tool: "", arguments: {} }
                  : { kind, workflow: "", input: {} },
            )
          }
          options={[
            { value: "agent", label: "Agent" },
            { value: "tool", label: "Tool" },
            { value: "workflow", label: "Workflow" },
          ]}
        />
        <ScopeContext value={scope}>
          <Inset>
            <WorkFields path={[...path, "do"]} work={node.do} />
          </Inset>
        </ScopeContext>
      </Part>
      <Row path={[...path, "concurrency"]} label="At the same time">
        <NumberField
          min={1}
          max={50}
          placeholder="5"
          value={typeof concurrency.value === "number" ? concurrency.value : undefined}
          onChange={concurrency.set}
          disabled={readOnly}
        />
      </Row>
      <Part label="If an entry fails" path={[...path, "on_error"]}>
        <SegmentedControl
          aria-label="If an entry fails"
          value={onError.value === "collect" ? "collect" : "fail"}
          onChange={onError.set}
          disabled={readOnly}
          options={[
            { value: "fail", label: "The node fails" },
            { value: "collect", label: "Go on, and say so" },
          ]}
        />
      </Part>
    </>
  );
}

const DAY = 86_400;

function ApprovalFields({ path }: { path: Path }) {
  const irreversible = useAt([...path, "irreversible"]);
  return (
    <>
      <TextRow
        path={[...path, "message"]}
        label="Question"
        hint="What whoever decides is asked."
        multiline
        placeholder="Deploy {{ input.service }}?"
      />
      <Part label="Shown beside it" hint="What they should see before they decide." path={[...path, "show"]}>
        <EntriesInput path={[...path, "show"]} label="Shown" add="Add something to show" />
      </Part>
      <SchemaInput
        path={[...path, "response"]}
        label="What they fill in"
        hint="Their answer is the output of this node."
        none="Nothing: they approve or reject."
      />
      <Deadline path={[...path, "deadline_seconds"]} usual={DAY} />
      <Row path={[...path, "irreversible"]} label="What follows cannot be taken back" inline>
        <Switch
          checked={irreversible.value === true}
          onChange={(next) => irreversible.set(next || undefined)}
        />
      </Row>
    </>
  );
}

function Deadline({ path, usual }: { path: Path; usual: number }) {
  const { value, set, readOnly } = useAt(path);
  const seconds = typeof value === "number" ? value : value === null ? undefined : usual;
  return (
    <>
      <Row
        path={path}
        label="It has a deadline"
        inline
        hint="After it nobody can decide any more: the node is rejected."
      >
        <Switch checked={value !== null} onChange={(on) => set(on ? usual : null)} />
      </Row>
      {value !== null && (
        <DurationInput
          label="Deadline"
          seconds={seconds}
          onChange={(next) => set(next)}
          disabled={readOnly}
        />
      )}
    </>
  );
}

function WaitFields({ path, node }: { path: Path; node: NodeDraftOf<"wait"> }) {
  const { readOnly } = useWorkflowEditor();
  const at = [...path, "for"];
  const { set } = useAt(at);
  const seconds = useAt([...at, "seconds"]);
  const way = "webhook" in node.for ? "webhook" : typeof node.for.seconds === "number" ? "time" : "template";
  return (
    <>
      <Part label="Until" path={at}>
        <SegmentedControl
          aria-label="What it waits for"
          value={way}
          disabled={readOnly}
          onChange={(next) =>
            set(next === "webhook" ? { webhook: {} } : { seconds: next === "time" ? 60 : "{{ input. }}" })
          }
          options={[
            { value: "time", label: "A time" },
            { value: "template", label: "A time from a template" },
            { value: "webhook", label: "A webhook" },
          ]}
        />
      </Part>
      {way === "time" && (
        <Row path={[...at, "seconds"]} label="How long">
          <DurationInput
            label="How long"
            seconds={typeof seconds.value === "number" ? seconds.value : undefined}
            onChange={(next) => seconds.set(next ?? 0)}
            disabled={readOnly}
          />
        </Row>
      )}
      {way === "template" && (
        <TextRow path={[...at, "seconds"]} label="Seconds" hint="A number of seconds." />
      )}
      {way === "webhook" && (
        <>
          <p className="text-sm text-muted">
            Each run gives the node an address of its own, shown in the inbox. What is sent there is the
            node's output.
          </p>
          <SchemaInput
            path={[...at, "webhook", "response"]}
            label="What is sent"
            hint="Anything else is refused."
            none="Any JSON is taken."
          />
          <Deadline path={[...at, "webhook", "deadline_seconds"]} usual={DAY} />
        </>
      )}
    </>
  );
}

/** Where it goes on from here: the edges, for those who do not see them, and a way to take one away. */
function Next({ id, onConnect }: { id: string; onConnect(): void }) {
  const { definition, edit, readOnly } = useWorkflowEditor();
  const out = edgesOf(definition).filter(({ from }) => from === id);
  const remove = (edge: Edge) => edit({ type: "remove", nodes: [], edges: [edgeId(edge)] });
  return (
    <Part label="Then">
      {out.length === 0 && <p className="text-sm text-muted">Nothing comes after it.</p>}
      <ul className="flex flex-col gap-1">
        {out.map((edge) => {
          const target = titleOf(edge.to, definition.nodes[edge.to]);
          return (
            <li
              key={edgeId(edgeFrom(edge.from, portOf(edge), edge.to))}
              className="flex items-center gap-2 text-sm"
            >
              <span className="w-16 shrink-0 text-muted">{PORT_WORDS[portOf(edge)]}</span>
              <span className="min-w-0 flex-1 truncate">{target}</span>
              {!readOnly && (
                <IconButton
                  size="small"
                  icon={CloseIcon}
                  label={`Disconnect ${target}`}
                  onClick={() => remove(edge)}
                />
              )}
            </li>
          );
        })}
      </ul>
      {!readOnly && (
        <Button size="small" className="w-fit" onClick={onConnect}>
          Connect…
        </Button>
      )}
    </Part>
  );
}

/** Retry and timeout: what every node may have. */
function Endurance({ path, node }: { path: Path; node: NodeDraft }) {
  const { readOnly } = useWorkflowEditor();
  const retry = useAt([...path, "retry"]);
  const attempts = useAt([...path, "retry", "attempts"]);
  const delay = useAt([...path, "retry", "delay_ms"]);
  const backoff = useAt([...path, "retry", "backoff"]);
  const timeout = useAt([...path, "timeout_ms"]);
  const isOn = node.retry !== undefined;
  const number = (value: unknown) => (typeof value === "number" ? value : undefined);
  return (
    <>
      <Row path={[...path, "retry"]} label="Try again when it fails" inline>
        <Switch checked={isOn} onChange={(on) => retry.set(on ? { attempts: 3 } : undefined)} />
      </Row>
      {isOn && (
        <Inset>
          <Row path={[...path, "retry", "attempts"]} label="Tries" hint="All of them, the first one too.">
            <NumberField
              min={1}
              max={10}
              value={number(attempts.value)}
              onChange={(next) => attempts.set(next ?? 1)}
              disabled={readOnly}
            />
          </Row>
          <Row path={[...path, "retry", "delay_ms"]} label="First wait">
            <DurationInput
              label="First wait"
              seconds={number(delay.value) === undefined ? 1 : (number(delay.value) ?? 0) / 1000}
              onChange={(next) => delay.set(next === undefined ? undefined : Math.round(next * 1000))}
              disabled={readOnly}
            />
          </Row>
          <Row
            path={[...path, "retry", "backoff"]}
            label="Each wait is longer by"
            hint="Times the one before."
          >
            <NumberField
              min={1}
              max={10}
              step={0.5}
              placeholder="2"
              value={number(backoff.value)}
              onChange={backoff.set}
              disabled={readOnly}
            />
          </Row>
        </Inset>
      )}
      <Row path={[...path, "timeout_ms"]} label="Time limit" aside="optional" hint="Empty: none.">
        <DurationInput
          label="Time limit"
          placeholder="none"
          seconds={number(timeout.value) === undefined ? undefined : (number(timeout.value) ?? 0) / 1000}
          onChange={(next) => timeout.set(next === undefined ? undefined : Math.round(next * 1000))}
          disabled={readOnly}
        />
      </Row>
    </>
  );
}
