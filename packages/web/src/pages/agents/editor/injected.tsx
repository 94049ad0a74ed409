import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { JsonObject } from "trackside/schema";
import { client, explain } from "../../../api.ts";
import { plural } from "../../../format/number.ts";
import { cx } from "../../../ui/class-names.ts";
import { Select } from "../../../ui/select.tsx";
import { definitionOf } from "../draft/agent-draft.ts";
import { useEditor } from "./context.ts";
import { useDebounced } from "./debounced.ts";
import { Row } from "./fields.tsx";
import { Pairs } from "./pairs.tsx";

export function Injected() {
  const { draft, change } = useEditor();
  return (
    <>
      <Row
        name="injected_tool_args"
        label="Injected arguments"
        hideLabel
        hint="Every tool shows these to the model as optional arguments. They go into the record of the call and never into the tool."
      >
        <Pairs
          pairs={draft.injected}
          onChange={(injected) => change({ injected }, "injected_tool_args")}
          words={{
            name: "Argument",
            value: "Description",
            add: "Add an argument",
            placeholder: ["why", "What the model should write there"],
          }}
        />
      </Row>
      <Preview />
    </>
  );
}

/** What the tools of the model depend on. The rest may be wrong meanwhile. */
const RELEVANT = [
  "tools",
  "hitl_tools",
  "injected_tool_args",
  "allow_self_spawn",
  "allow_parallel_subagents",
  "max_parallel_subagents",
];

function previewed(definition: JsonObject): JsonObject {
  const parts = RELEVANT.flatMap((name) =>
    name in definition ? [[name, definition[name] ?? null] as const] : [],
  );
  const model = definition["model"];
  return {
    name: "preview",
    model: model === "" ? "openai:any" : (model ?? ""),
    ...Object.fromEntries(parts),
  };
}

function Preview() {
  const { draft } = useEditor();
  const text = useDebounced(JSON.stringify(previewed(definitionOf(draft).definition)));
  const preview = useQuery({
    queryKey: ["agents", "preview", text],
    queryFn: ({ signal }) => client.previewAgent({ body: { definition: JSON.parse(text) } }, { signal }),
    placeholderData: keepPreviousData,
    retry: false,
  });
  const [chosen, setChosen] = useState<string>();
  const tools = preview.data?.tools ?? [];
  const tool = tools.find(({ name }) => name === chosen) ?? tools[0];
  const injected = new Set(draft.injected.map(({ name }) => name));
  return (
    <section aria-label="What the model sees" className="min-w-0 rounded-md border border-line bg-panel">
      <header className="flex min-h-9 flex-wrap items-center justify-between gap-2 border-b border-line px-3 py-1">
        <h3 className="text-sm font-medium">What the model sees</h3>
        {tools.length > 1 && (
          <Select
            aria-label="Tool to show"
            value={tool?.name}
            onChange={setChosen}
            options={tools.map(({ name }) => ({ value: name, label: name }))}
            className="max-w-56 font-mono text-sm"
          />
        )}
      </header>
      {preview.error ? (
        <p className="p-3 text-sm text-muted">
          Shown again once the tools can be bound: {explain(preview.error)}
        </p>
      ) : tool === undefined ? (
        <p className="p-3 text-sm text-muted">{preview.data ? "The agent has no tools." : "Loading"}</p>
      ) : (
        <figure
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable with the keyboard
          tabIndex={0}
          aria-label={`Schema of ${tool.name}, of ${plural(tools.length, "tool")}`}
          className="max-h-80 overflow-auto p-3 font-mono text-sm -outline-offset-2"
        >
          <p className="mb-2 font-sans break-words text-muted">{tool.description || "No description."}</p>
          <SchemaLines schema={tool.input_schema} marked={injected} />
        </figure>
      )}
    </section>
  );
}

/** The schema as JSON, with the injected arguments marked. */
function SchemaLines({ schema, marked }: { schema: Record<string, unknown>; marked: ReadonlySet<string> }) {
  const lines = JSON.stringify(schema, null, 2).split("\n");
  let inside = false;
  return (
    <pre className="w-max min-w-full font-mono">
      {lines.map((line, at) => {
        const opened = /^ {4}"([^"]+)": /.exec(line)?.[1];
        if (opened !== undefined) inside = marked.has(opened);
        else if (/^ {0,3}\S/.test(line)) inside = false;
        return (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: a line goes by its place
            key={at}
            className={cx("block", inside && "bg-accent-soft shadow-[inset_2px_0_0_var(--accent)]", "pl-2")}
          >
            {line}
          </span>
        );
      })}
    </pre>
  );
}
