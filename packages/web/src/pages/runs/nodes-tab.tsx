import { formatDuration } from "../../format/duration.ts";
import { one, useSearchState } from "../../search.ts";
import { IconButton } from "../../ui/button.tsx";
import { cx } from "../../ui/class-names.ts";
import { Drawer } from "../../ui/dialog.tsx";
import { CloseIcon, RunsIcon } from "../../ui/icons.tsx";
import { Tokens } from "../../ui/numbers.tsx";
import { Empty } from "../../ui/states.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Duration } from "../../ui/time.tsx";
import { KIND_ICONS } from "../workflows/canvas/kind-icons.tsx";
import { KIND_WORDS } from "../workflows/draft/words.ts";
import { Cost } from "./cost.tsx";
import { NodeBadge } from "./node-badge.tsx";
import { NodeDetail } from "./node-detail.tsx";
import type { NodeView } from "./nodes.ts";
import type { RunDetail } from "./types.ts";
import type { Graph } from "./use-nodes.ts";

/** More nodes than these, and only those in sight are in the page. */
const MANY = 150;

/** Every node of the workflow, in the order of its edges, with what became of it. */
export function NodesTab({ run, graph, wide }: { run: RunDetail; graph: Graph | undefined; wide: boolean }) {
  const [search, setSearch] = useSearchState();
  if (graph === undefined)
    return <Empty title="The definition is gone">Without it the timeline has all that is known.</Empty>;
  const { nodes } = graph;
  const selected = one(search, "node");
  const open = nodes.find(({ id }) => id === selected);
  const pick = (node: NodeView | undefined) => setSearch({ node: node?.id, items: undefined });
  const detail = open && <NodeDetail node={open} run={run} graph={graph} />;
  return (
    <div className={cx("flex min-w-0", wide && "h-full")}>
      <div className={cx("min-w-0 flex-1", wide && "overflow-auto pb-4")}>
        <Table
          label="Nodes"
          columns={open && wide ? COLUMNS.filter(({ id }) => NARROW.has(id)) : COLUMNS}
          rows={nodes}
          rowKey={({ id }) => id}
          selected={open?.id}
          onOpen={(node) => pick(node)}
          {...(open && wide && { onFocusRow: (node: NodeView) => pick(node) })}
          {...(nodes.length > MANY && { virtual: { height: wide ? "100%" : "70dvh" } })}
        />
      </div>
      {wide && open && (
        <aside
          aria-label={`Details of ${open.title}`}
          className="w-96 shrink-0 overflow-y-auto overscroll-contain pb-4 pl-4 lg:w-110"
        >
          <header className="sticky top-0 z-10 flex items-center gap-2 bg-canvas pb-2">
            <h2 className="min-w-0 flex-1 truncate font-semibold">{open.title}</h2>
            {open.row && (
              <IconButton
                size="small"
                icon={RunsIcon}
                label="Show it in the timeline"
                onClick={() => setSearch({ tab: "timeline", event: open.row?.id }, { push: true })}
              />
            )}
            <IconButton
              size="small"
              icon={CloseIcon}
              label="Close the details"
              onClick={() => pick(undefined)}
            />
          </header>
          {detail}
        </aside>
      )}
      {!wide && (
        <Drawer open={open !== undefined} onClose={() => pick(undefined)} title={open?.title ?? ""}>
          {detail}
        </Drawer>
      )}
    </div>
  );
}

const NARROW: ReadonlySet<string> = new Set(["state", "node", "duration"]);

const COLUMNS: readonly Column<NodeView>[] = [
  { id: "state", head: "State", width: "136px", cell: (node) => <NodeBadge node={node} /> },
  { id: "node", head: "Node", cell: (node) => <Name node={node} /> },
  {
    id: "kind",
    head: "Kind",
    width: "96px",
    hideOnPhone: true,
    cell: ({ kind }) => <span className="text-muted">{KIND_WORDS[kind].word}</span>,
  },
  {
    id: "tries",
    head: "Tries",
    width: "56px",
    align: "right",
    hideOnPhone: true,
    cell: (node) => (isBegun(node) ? node.attempt : ""),
  },
  { id: "duration", head: "Duration", width: "104px", align: "right", cell: (node) => <Took node={node} /> },
  {
    id: "tokens",
    head: "Tokens",
    width: "80px",
    align: "right",
    hideOnPhone: true,
    cell: ({ usage }) =>
      usage && usage.model_calls > 0 ? (
        <Tokens value={usage.input_tokens + usage.output_tokens} unit={false} />
      ) : (
        ""
      ),
  },
  {
    id: "cost",
    head: "Cost",
    width: "80px",
    align: "right",
    hideOnPhone: true,
    cell: ({ usage }) => (usage && usage.model_calls > 0 ? <Cost value={usage.cost} /> : ""),
  },
];

function Name({ node }: { node: NodeView }) {
  const KindIcon = KIND_ICONS[node.kind];
  const said = node.row?.note;
  return (
    <span className="flex min-w-0 items-center gap-2">
      <KindIcon width={14} height={14} className="shrink-0 text-muted" />
      <span className="shrink-0 font-medium max-md:min-w-0 max-md:shrink max-md:truncate">{node.title}</span>
      <span
        className={cx(
          "min-w-0 truncate text-sm max-md:hidden",
          node.state === "failed" ? "text-red" : "text-muted",
        )}
      >
        {said || node.does}
      </span>
    </span>
  );
}

const isBegun = ({ state, isReused }: NodeView) => state !== "idle" && state !== "skipped" && !isReused;

function Took({ node }: { node: NodeView }) {
  const { start, end } = node;
  if (!isBegun(node) || start === null) return null;
  return end === null ? <Duration since={start} /> : formatDuration(end - start);
}
