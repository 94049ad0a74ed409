import { useNavigate } from "@tanstack/react-router";
import { client } from "../../api.ts";
import { plural } from "../../format/number.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Select } from "../../ui/select.tsx";
import { retryPlan } from "./nodes.ts";
import type { RunDetail } from "./types.ts";
import type { Graph } from "./use-nodes.ts";

interface RetryNodeProps {
  readonly run: RunDetail;
  readonly graph: Graph;
  readonly node: string;
  /** Without it the node is fixed: somebody asked for this one. */
  onChoose?(node: string): void;
  onClose(): void;
}

/** Says what is taken over and what runs again before anything does. */
export function RetryNode({ run, graph, node, onChoose, onClose }: RetryNodeProps) {
  const navigate = useNavigate();
  const { again, reused } = retryPlan(graph.workflow, graph.nodes, node);
  const titles = new Map(graph.nodes.map(({ id, title }) => [id, title]));
  const title = titles.get(node) ?? node;
  const named = (ids: readonly string[]) => ids.map((id) => titles.get(id) ?? id);
  return (
    <Confirm
      open
      onClose={onClose}
      title={`Retry ${run.agent} from ${title}?`}
      description="A new run of the same definition, with the same input. This run stays as it is."
      action={`Retry from ${title}`}
      onConfirm={async () => {
        const made = await client.retryRun({ params: { id: run.id }, body: { node } });
        void navigate({ to: "/runs/$id", params: { id: made.id } });
      }}
    >
      {onChoose && (
        <Select
          aria-label="Node"
          value={node}
          onChange={onChoose}
          options={graph.nodes.map((one) => ({ value: one.id, label: one.title }))}
        />
      )}
      <dl className="mt-3 grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-2 text-sm">
        <Names what="Reused" names={named(reused)} none="Nothing: all of it runs again." />
        <Names what="Runs again" names={named(again)} none="Nothing." />
      </dl>
      <p className="mt-2 text-sm text-muted">
        What runs again is done once more: its calls, its agents and its questions. Of what is reused only the
        output is taken over.
      </p>
    </Confirm>
  );
}

/** More than these are counted. */
const MOST = 20;

function Names({ what, names, none }: { what: string; names: readonly string[]; none: string }) {
  const rest = names.length - MOST;
  return (
    <>
      <dt className="text-muted">{what}</dt>
      <dd className="min-w-0 break-words">
        {names.length === 0 ? none : names.slice(0, MOST).join(", ")}
        {rest > 0 && ` and ${plural(rest, "more", "more")}`}
      </dd>
    </>
  );
}
