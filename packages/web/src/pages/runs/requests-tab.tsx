import { useQuery } from "@tanstack/react-query";
import { client } from "../../api.ts";
import { formatCount, plural } from "../../format/number.ts";
import { numberOf, one, useSearchState } from "../../search.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { DiffView } from "../../ui/diff-view.tsx";
import { WarningIcon } from "../../ui/icons.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { Select } from "../../ui/select.tsx";
import { Empty, Loading } from "../../ui/states.tsx";
import { Facts, Part } from "./facts.tsx";
import { before, changesOf, changeWords } from "./request-changes.ts";
import type { RunDetail, SentRequest } from "./types.ts";

/** Each model request as it was really sent. Asked for by step: of a long run all of them are very large. */
export function RequestsTab({ run }: { run: RunDetail }) {
  const [search, setSearch] = useSearchState();
  const plans = run.definition?.["planning_enabled"] === true;
  const last = Math.max(run.steps, 1);
  const step = Math.min(last + 1, Math.max(0, numberOf(search, "at") ?? (run.steps > 0 ? 1 : 0)));
  const query = useRequests(run, step);
  const earlier = useRequests(run, step - 1, step > 0);
  const steps = Array.from({ length: last + (plans ? 1 : 0) }, (_, at) => (plans ? at : at + 1));
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <div className="w-52">
        <Select
          aria-label="Step"
          value={String(step)}
          onChange={(next) => setSearch({ at: next, request: undefined })}
          options={steps.map((number) => ({
            value: String(number),
            label: number === 0 ? "Before the first step" : `Step ${number} of ${last}`,
          }))}
        />
      </div>
      <QueryState query={query} what="Requests" loading={<Loading shape="lines" count={12} />}>
        {({ items }) => (
          <Requests
            items={items}
            all={[...(earlier.data?.items ?? []), ...items]}
            chosen={one(search, "request")}
            choose={(key) => setSearch({ request: key })}
          />
        )}
      </QueryState>
    </div>
  );
}

function useRequests(run: RunDetail, step: number, enabled = true) {
  return useQuery({
    queryKey: ["runs", "requests", run.id, step, run.steps],
    queryFn: ({ signal }) => client.listRequests({ params: { id: run.id }, query: { step } }, { signal }),
    enabled,
    gcTime: 60_000,
  });
}

interface RequestsProps {
  readonly items: readonly SentRequest[];
  readonly all: readonly SentRequest[];
  readonly chosen: string | undefined;
  choose(key: string): void;
}

function Requests({ items, all, chosen, choose }: RequestsProps) {
  const request = items.find(({ key }) => key === chosen) ?? items.at(-1);
  if (request === undefined)
    return (
      <Empty title="No request here">No model was asked in this step, or it has not come to it yet.</Empty>
    );
  return (
    <>
      {items.length > 1 && (
        <ul className="flex flex-wrap gap-2">
          {items.map((one) => (
            <li key={one.key}>
              <button
                type="button"
                aria-pressed={one === request}
                onClick={() => choose(one.key)}
                className="control inline-flex items-center gap-2 text-sm aria-pressed:border-accent aria-pressed:bg-accent-soft"
              >
                {KINDS[one.kind]}
                {one.attempt > 1 && <span className="text-amber">attempt {one.attempt}</span>}
              </button>
            </li>
          ))}
        </ul>
      )}
      <OneRequest request={request} earlier={before(all, request)} />
    </>
  );
}

const KINDS = {
  step: "The step's request",
  planner: "The planner's request",
  summary: "A summary's request",
};

function OneRequest({ request, earlier }: { request: SentRequest; earlier: SentRequest | undefined }) {
  const { usage } = request;
  const changes = earlier && changesOf(earlier, request);
  const fresh = request.messages.slice(changes?.kept ?? 0);
  return (
    <div className="min-w-0">
      {!request.complete && (
        <div className="mb-3 flex items-start gap-2 rounded-md border border-amber bg-amber-soft px-3 py-2">
          <WarningIcon className="mt-0.5 text-amber" />
          <div>
            <p className="font-medium">Not all that was sent is here</p>
            {request.missing.map((what) => (
              <p key={what} className="measure text-sm break-words">
                {what}
              </p>
            ))}
          </div>
        </div>
      )}
      <Facts
        of={[
          [
            "Request",
            <code key="k" className="font-mono">
              {request.key}
            </code>,
          ],
          [
            "Model",
            <code key="m" className="font-mono">
              {request.model}
            </code>,
          ],
          ["Agent", request.agent],
          ["Attempt", request.attempt],
          ["Most output", request.max_output_tokens],
          ["Temperature", request.temperature],
          [
            "Same beginning",
            request.cache_prefix &&
              `${formatCount(request.cache_prefix.tokens)} tokens of the request before`,
          ],
          ["Broken by", request.cache_prefix?.broken_by],
          [
            "Tokens",
            usage
              ? `${formatCount(usage.input_tokens)} in (${formatCount(usage.cached_input_tokens)} cached), ${formatCount(usage.output_tokens)} out`
              : "not reported",
          ],
          [
            "Against the one before",
            changes ? changeWords(changes).join(". ") : "it is the first of its kind here",
          ],
        ]}
      />
      {changes?.system && earlier && (
        <Part title="What changed in the system prompt">
          <DiffView before={earlier.system ?? ""} after={request.system ?? ""} label="System prompt" />
        </Part>
      )}
      {changes && changes.gone > 0 && earlier && (
        <Part title="What changed in the messages">
          <DiffView
            before={earlier.messages.slice(changes.kept)}
            after={request.messages.slice(changes.kept)}
            label="Messages"
          />
        </Part>
      )}
      <Part title="System prompt">
        {request.system === null ? (
          <p className="text-muted">None.</p>
        ) : (
          <CodeBlock code={request.system} wrap label="System prompt" />
        )}
      </Part>
      <Part title={`${plural(request.tools.length, "tool")}`}>
        {request.tools.length === 0 ? (
          <p className="text-muted">None.</p>
        ) : (
          <JsonView
            value={Object.fromEntries(request.tools.map(({ name, ...rest }) => [name, rest]))}
            label="Tools"
            open={1}
          />
        )}
      </Part>
      {request.output_schema && (
        <Part title="Output schema">
          <JsonView value={request.output_schema} label="Output schema" />
        </Part>
      )}
      {changes && changes.kept > 0 && changes.added > 0 && (
        <Part title={`${plural(fresh.length, "message")} that the one before had not`}>
          <JsonView value={fresh} label="New messages" open={4} />
        </Part>
      )}
      <Part title={`All ${plural(request.messages.length, "message")}`}>
        <JsonView value={request.messages} label="Messages" open={changes && changes.kept > 0 ? 1 : 4} />
      </Part>
    </div>
  );
}
