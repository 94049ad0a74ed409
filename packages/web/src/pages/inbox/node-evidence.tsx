import { queryOptions, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Json } from "trackside/schema";
import { client } from "../../api.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { workflowOf } from "../runs/nodes.ts";
import { type Detail, isOpen } from "./approval.ts";
import { Led, Section, WhatHappens } from "./evidence.tsx";
import { nodeConsequences } from "./node-choices.ts";
import { nodeStory } from "./node-story.ts";
import { sampleOf } from "./sample.ts";
import type { StoryLine } from "./story.ts";

/** What a run began with stays as it is: the graph it is pinned to, and its input. */
const beginning = (id: string) =>
  queryOptions({
    queryKey: ["runs", id, "beginning"],
    queryFn: async ({ signal }) => {
      const run = await client.getRun({ params: { id } }, { signal });
      return { input: run.input, workflow: workflowOf(run) ?? null };
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

/** What each choice leads to, by the edges of the workflow; what the server says where they are not known. */
export function NodeConsequences({ detail }: { detail: Detail }) {
  const workflow = useQuery(beginning(detail.run_id)).data?.workflow;
  const known = workflow && detail.tool !== null ? nodeConsequences(workflow, detail.tool, detail) : {};
  return <WhatHappens detail={detail} consequences={{ ...detail.consequences, ...known }} />;
}

/** What the workflow was given, then what became of its nodes before the question. */
export function LedToNode({ detail }: { detail: Detail }) {
  const begun = useQuery(beginning(detail.run_id));
  const events = useQuery({
    queryKey: ["runs", detail.run_id, "led", detail.id],
    queryFn: async ({ signal }) =>
      (await client.listEvents({ params: { id: detail.run_id }, query: {} }, { signal })).items,
    staleTime: Number.POSITIVE_INFINITY, // what was before the question stays
  });
  const story = useMemo(() => nodeStory(events.data ?? [], detail.id), [events.data, detail.id]);
  const given: StoryLine[] = begun.data
    ? [
        {
          key: "given",
          at: detail.run.created_at,
          who: detail.run.parent_run_id === null ? (detail.requested_by ?? "Somebody") : "The run above",
          did: "started it with",
          text: begun.data.input,
          code: true,
        },
      ]
    : [];
  return <Led detail={detail} lines={[...given, ...story]} />;
}

/** The address of a node that waits, with a command that sends something to it. */
export function WhereToSend({ detail }: { detail: Detail }) {
  const { webhook_url, response_schema } = detail;
  if (webhook_url === undefined || !isOpen(detail)) return null;
  return (
    <Section title="Where to send it">
      <p className="measure mb-2 text-muted">
        Whoever knows this address may send, once, without signing in. What comes first counts; the form below
        does the same by hand.
      </p>
      <CodeBlock
        wrap
        label="Command that sends it"
        code={`curl -X POST -H 'content-type: application/json' -d '${quoted(sampleOf(response_schema ?? {}))}' '${webhook_url}'`}
      />
    </Section>
  );
}

/** In single quotes, as shells read it. */
const quoted = (value: Json) => JSON.stringify(value).replaceAll("'", "'\\''");
