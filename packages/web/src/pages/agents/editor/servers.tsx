import type { JsonObject } from "trackside/schema";
import { CodeBlock } from "../../../ui/code-block.tsx";
import { Field } from "../../../ui/field.tsx";
import { TrashIcon } from "../../../ui/icons.tsx";
import { Tag } from "../../../ui/status-badge.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { newRowId, type ServerRow } from "../draft/agent-draft.ts";
import { AddFrom } from "./add-from.tsx";
import { Card } from "./card.tsx";
import { useEditor } from "./context.ts";
import { EditButton, EditIconButton, Row } from "./fields.tsx";
import { Pairs } from "./pairs.tsx";
import { withKey } from "./rails.tsx";

/**
 * Servers that the host offers. Which programs are started and which addresses are called is for the configuration to say,
 * so what a definition may choose is which of their tools it takes and what they are called.
 */
export function Servers() {
  const { draft, change, registry, issues, readOnly } = useEditor();
  const put = (servers: readonly ServerRow[]) => change({ servers }, "mcp_servers");
  const taken = new Set(draft.servers.map(({ ref }) => ref["name"]));
  const offered = registry.servers.filter(({ name }) => !taken.has(name));
  const isOdd = draft.servers.length === 0 && draft.fields["mcp_servers"] !== undefined;
  return (
    <>
      {isOdd && (
        <Row name="mcp_servers" label="MCP servers">
          <p className="text-muted">The form cannot show these servers. Edit them as JSON.</p>
        </Row>
      )}
      {draft.servers.map((row, at) => (
        <ServerCard
          key={row.id}
          row={row}
          path={`mcp_servers[${at}]`}
          problem={issues.words(`mcp_servers[${at}]`)}
          onRemove={() => put(draft.servers.toSpliced(at, 1))}
          onChange={(next) =>
            put(draft.servers.map((one) => (one.id === row.id ? { ...one, ...next } : one)))
          }
        />
      ))}
      {readOnly ? (
        draft.servers.length === 0 && <p className="text-muted">None.</p>
      ) : registry.servers.length === 0 ? (
        draft.servers.length === 0 && (
          <div className="flex flex-col gap-2">
            <p className="measure text-muted">
              This host offers no MCP servers. Which programs are started and which addresses are called is
              never for a definition to say: configure them, secrets by name, and they can be chosen here.
            </p>
            <CodeBlock
              label="Configuration"
              code={`mcpServers: [{ name: "files", command: "npx", args: ["some-mcp-server"], env: { TOKEN: { secret: "files-token" } } }]`}
            />
          </div>
        )
      ) : (
        <AddFrom
          what="Add an MCP server"
          items={offered.map(({ name, transport, target }) => ({
            name,
            description: `${transport}, ${target}`,
          }))}
          onAdd={(name) => put([...draft.servers, { id: newRowId(), ref: configOf(name), rename: [] }])}
        />
      )}
    </>
  );

  function configOf(name: string): JsonObject {
    // What goes into a definition, as the host says it: JSON.
    return (registry.servers.find((server) => server.name === name)?.config ?? { name }) as JsonObject;
  }
}

/** What a definition may say of an offered server; the rest is the host's. */
const OWN = ["name", "include", "exclude", "rename"];

function ServerCard(props: {
  row: ServerRow;
  path: string;
  problem: string | undefined;
  onRemove(): void;
  onChange(next: Partial<ServerRow>): void;
}) {
  const { row, path, problem, onRemove, onChange } = props;
  const { registry, readOnly } = useEditor();
  const { ref, rename } = row;
  const name = String(ref["name"] ?? "");
  const about = registry.servers.find((server) => server.name === name);
  const foreign = Object.fromEntries(Object.entries(ref).filter(([key]) => !OWN.includes(key)));
  const hasForeign = Object.keys(foreign).length > 0;
  return (
    <Card
      title={name || "(no name)"}
      about={about ? `${about.transport}, ${about.target}` : undefined}
      path={path}
      problem={problem}
      open={hasForeign}
      controls={
        <>
          {about && <Tag title="Configured on this host">{about.transport}</Tag>}
          {ref["trusted"] === true && <Tag>trusted</Tag>}
          <EditIconButton icon={TrashIcon} label={`Remove ${name}`} onClick={onRemove} />
        </>
      }
    >
      {hasForeign && (
        <div className="flex flex-col gap-2">
          <p className="measure text-sm text-muted">
            The definition says itself how the server is reached. On a host only its configuration may do
            that.
          </p>
          <CodeBlock label="Settings of its own" code={JSON.stringify(foreign, null, 2)} />
          {!readOnly && (
            <EditButton
              size="small"
              className="w-fit"
              onClick={() =>
                onChange({
                  ref: Object.fromEntries(Object.entries(ref).filter(([key]) => OWN.includes(key))),
                })
              }
            >
              Use what the host says instead
            </EditButton>
          )}
        </div>
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <Names row={row} onChange={onChange} part="include" label="Only these tools" placeholder="all" />
        <Names row={row} onChange={onChange} part="exclude" label="Without these tools" placeholder="none" />
      </div>
      <Field label="Renamed tools" hint="Two servers may have tools of the same name.">
        <Pairs
          pairs={rename}
          onChange={(next) => onChange({ rename: next })}
          words={{ name: "Tool of the server", value: "Its name here", add: "Rename a tool" }}
        />
      </Field>
    </Card>
  );
}

/** Names with commas between; a star at the end stands for anything. */
function Names({
  row,
  part,
  label,
  placeholder,
  onChange,
}: {
  row: ServerRow;
  part: "include" | "exclude";
  label: string;
  placeholder: string;
  onChange(next: Partial<ServerRow>): void;
}) {
  const given = row.ref[part];
  const names = Array.isArray(given) ? given.map(String) : [];
  return (
    <Field label={label} aside="optional" hint="Names with commas between; read_* for all that begin so.">
      <TextField
        mono
        value={names.join(",")}
        placeholder={placeholder}
        spellCheck={false}
        onChange={(text) => {
          const next = text.split(",").map((one) => one.trimStart());
          onChange({ ref: withKey(row.ref, part, text === "" ? undefined : next) });
        }}
      />
    </Field>
  );
}
