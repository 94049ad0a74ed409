import type { DurableEvent, DurableEventOf, Json } from "trackside/schema";
import { formatDuration } from "../../format/duration.ts";
import { plural } from "../../format/number.ts";
import type { StoryLine } from "./story.ts";

type Told = Pick<StoryLine, "did" | "text" | "code">;

/** What became of the nodes of a workflow before one of them asked, oldest first, and what is under way beside it. */
export function nodeStory(events: readonly DurableEvent[], approvalId: string): StoryLine[] {
  const asked = events.findIndex((event) => event.type === "approval" && event.approval_id === approvalId);
  const before = asked === -1 ? events : events.slice(0, asked);
  const begun = new Map<string, DurableEventOf<"node">>();
  const lines: StoryLine[] = [];
  for (const event of before) {
    if (event.type !== "node") continue;
    const { node, seq, run_id, at } = event;
    if (event.state === "started") begun.set(node, event);
    else {
      lines.push({ key: `${run_id}:${seq}`, at, who: node, ...told(event, begun.get(node)?.at) });
      if (event.state !== "retrying") begun.delete(node);
    }
  }
  const asks = events[asked];
  if (asks?.type === "approval" && asks.tool !== null) begun.delete(asks.tool);
  for (const { node, seq, run_id, at } of begun.values())
    lines.push({ key: `${run_id}:${seq}`, at, who: node, did: "is under way", text: "", code: false });
  return lines;
}

function told(event: DurableEventOf<"node">, since: number | undefined): Told {
  const { state, failure, reason, output, port, reused, attempt = 1, retry_in_ms = 0, at } = event;
  const took = since === undefined || at <= since ? "" : ` after ${formatDuration(at - since)}`;
  switch (state) {
    case "started":
      return said("began");
    case "retrying":
      return said(`failed, and is tried again in ${formatDuration(retry_in_ms)}`, failure?.message);
    case "failed":
      return said(`${port === "rejected" ? "was rejected" : "failed"}${took}`, failure?.message);
    case "skipped":
      return said("was skipped", reason);
    case "completed": {
      if (port === "true" || port === "false") return said(`went ${port}`);
      const tries = attempt > 1 ? `, ${attempt} tries` : "";
      const did = reused ? "is reused" : `is done${took}${tries}`;
      if (output === undefined || output === null) return said(did);
      return { did, text: written(output), code: typeof output !== "string" };
    }
  }
}

const said = (did: string, text = ""): Told => ({ did, text, code: false });

/** The output of a map may have thousands of entries: beside a question they are counted. */
const MOST_ENTRIES = 50;

function written(value: Json): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.length > MOST_ENTRIES) return plural(value.length, "entry", "entries");
  const line = JSON.stringify(value);
  return line.length <= 80 ? line : JSON.stringify(value, null, 2);
}
