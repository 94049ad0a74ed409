import type { RunRecord } from "@trackside/host";
import type { AgentEvent, Message } from "trackside";
import { type InStore, STORE_EXIT_HELP, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import { onOne } from "../../config/on-one.ts";
import type { Io } from "../../io.ts";
import { cleanLine } from "../../screen/clean.ts";
import { duration } from "../../screen/numbers.ts";
import { statusCell, why } from "../../screen/run-status.ts";
import { RunView, tokens } from "../../screen/run-view.ts";
import type { Screen } from "../../screen/screen.ts";
import { TimedScreen } from "../../screen/timed-screen.ts";
import { ago, clockTime } from "../../screen/times.ts";
import { shortId } from "../../short-id.ts";

const help = `trackside runs show <id>    shows a run: its record and what happened when

  <id>      the id of a run, or an end of it that no other has

Options
  --json                  prints the record, its events and its approvals as one line of JSON
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside runs show k3x9q2ab
  trackside runs show k3x9q2ab --json | jq .run.status
`;

export const show = onOne({
  help,
  usage: "trackside runs show <id>",
  table: "runs",
  async work(opened, id, io) {
    const { trackside, scope, json, line } = opened;
    if (!json) return showRun(opened, io, id);
    const { run, events, approvals } = await trackside.runs.export(id, scope);
    line({ run, events, approvals });
  },
});

async function showRun({ trackside, scope, screen, output }: InStore, io: Io, id: string): Promise<void> {
  const run = await trackside.runs.get(id, scope);
  const events = await trackside.runs.events(id, { ...scope, children: true });
  const which = run.parent_run_id === null ? { rootRunId: id } : { runId: id };
  const approvals = await trackside.approvals.list({ ...scope, ...which, state: "all", limit: 10_000 });
  const records = new Map(approvals.map((approval) => [approval.id, approval]));
  showRecord(screen, run);
  screen.line();
  const timed = new TimedScreen(output, io.env);
  const asked = messageOf(run, await trackside.conversations.messages(run.branch_id, scope));
  if (asked !== undefined) {
    timed.at(0);
    timed.paragraph(`› ${asked}`);
  }
  const view = new RunView(timed, run.agent, { record: (approval) => records.get(approval) });
  for (const event of events) {
    timed.at(event.at - run.created_at);
    view.show(event as AgentEvent); // the same events, whose tools nobody knows here
  }
  if (run.ended_at === null)
    showNext(
      screen,
      run,
      approvals.some(({ state }) => state === "pending"),
    );
}

function showRecord(screen: Screen, run: RunRecord): void {
  const { text, style } = statusCell(run);
  const reason = why(run);
  const { tenant: _tenant, ...scope } = run.scope;
  const facts: readonly (readonly [string, string])[] = [
    [run.kind, cleanLine(run.agent)],
    ["status", `${screen.paint(style, text)}${reason === "" ? "" : ` · ${cleanLine(reason)}`}`],
    [
      "conversation",
      run.conversation_id + (run.branch_id === run.conversation_id ? "" : `, ${run.branch_id}`),
    ],
    ["started", `${clockTime(run.created_at)}${screen.isTerminal ? `, ${ago(run.created_at)}` : ""}`],
    ["took", run.ended_at === null ? "" : duration(run.ended_at - run.created_at)],
    ["steps", String(run.steps)],
    ["usage", run.usage.model_calls === 0 ? "" : tokens(run.usage)],
    ["sub-agent of", run.parent_run_id ?? ""],
    ["retried from", run.retried_from ?? ""],
    ["scope", Object.keys(scope).length === 0 ? "" : cleanLine(JSON.stringify(scope))],
    ["definition", run.definition_digest ?? ""],
  ];
  screen.line(screen.paint("bold", run.id));
  for (const [name, value] of facts)
    if (value !== "") screen.line(`  ${screen.paint("dim", name.padEnd(13))} ${value}`);
}

/** What could be done about a run that is not over. */
function showNext(screen: Screen, { id, status, cancel_reason }: RunRecord, asked: boolean): void {
  const short = shortId(id);
  screen.line();
  if (cancel_reason !== null) screen.line("It was asked to stop, and does so once a process works on it.");
  else if (status === "parked")
    screen.line(`It is parked. Put right what is said above, then: trackside runs resume ${short}`);
  else if (asked) screen.line("It waits for a decision: trackside approvals");
  else if (status === "queued") screen.line("It waits for a worker: trackside worker");
  else screen.line(`It goes on. Follow it with: trackside runs tail ${short}`);
}

/** What the user had said. A run that was retried has it from the first. */
function messageOf(run: RunRecord, messages: readonly Message[]): string | undefined {
  const ids = [`${run.id}.user`, `${run.retried_from}.user`];
  const found = messages.find(({ id }) => ids.includes(id));
  if (found?.role !== "user") return undefined;
  return found.parts.map((part) => (part.type === "text" ? part.text : `[${part.media_type}]`)).join("\n");
}
