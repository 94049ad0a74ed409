import type { Approval } from "trackside";
import { noMore, readArguments, readLimit, readWord } from "../../arguments.ts";
import { type Command, EXIT, showHelp } from "../../command.ts";
import { inStore, STORE_EXIT_HELP, STORE_OPTIONS, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import { remaining, subject } from "../../screen/approval-view.ts";
import { cleanLine } from "../../screen/clean.ts";
import { escapeHidden, jsonText } from "../../screen/json-text.ts";
import { counted } from "../../screen/numbers.ts";
import type { Screen } from "../../screen/screen.ts";
import { cutTo } from "../../screen/table.ts";
import { when } from "../../screen/times.ts";
import { findId, shortId } from "../../short-id.ts";

const STATES = ["pending", "approved", "rejected", "timed_out", "cancelled", "all"] as const;

const help = `trackside approvals list    lists what waits for a decision, the oldest first

Options
  --state word            others than those that wait: ${STATES.slice(1).join(", ")}
  --run id                only of this run
  --limit n               at most so many; 100 unless given
  --json                  prints each record, with its whole arguments, as one line of JSON
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside approvals list
  trackside approvals list --state approved --json
`;

const DEEP = 4;

export const list: Command = {
  help,
  async run(args, io) {
    const { values, positionals } = readArguments(args, {
      ...STORE_OPTIONS,
      state: { type: "string" },
      run: { type: "string" },
      limit: { type: "string" },
    });
    if (values.help) return showHelp(io, help);
    noMore(positionals, 0, "trackside approvals list");
    const state = readWord("--state", values.state, STATES) ?? "pending";
    const limit = readLimit(values.limit, 100);
    return inStore(io, values, async ({ trackside, scope, json, screen, line }) => {
      const runId =
        values.run === undefined ? undefined : await findId(trackside, "runs", values.run, scope.tenant);
      const found = await trackside.approvals.list({
        ...scope,
        state,
        limit,
        ...(runId === undefined ? {} : { runId }),
      });
      if (json) for (const approval of found) line(approval);
      else showApprovals(screen, found, state === "pending");
      return EXIT.completed;
    });
  },
};

function showApprovals(screen: Screen, approvals: readonly Approval[], pending: boolean): void {
  if (approvals.length === 0) {
    screen.line(pending ? "Nothing waits for a decision." : "There are no such approvals.");
    return;
  }
  for (const approval of approvals) {
    showOne(screen, approval);
    if (screen.isTerminal) screen.line();
  }
  if (!pending || !screen.isTerminal) return;
  const what = approvals.length === 1 ? "1 waits" : `${counted(approvals.length, "approval")} wait`;
  screen.line(screen.paint("dim", `${what}. trackside approvals asks you about one after the other.`));
}

function showOne(screen: Screen, approval: Approval): void {
  const { id, arguments: args, reasons, requester, run_id, requested_at } = approval;
  const short = screen.isTerminal ? shortId(id) : id;
  const name = subject(approval, undefined);
  const colour = approval.state === "pending" ? "yellow" : "dim";
  const room = screen.columns - short.length - name.length - 6;
  const shown = args === null ? "" : cutTo(escapeHidden(jsonText(args, Number.POSITIVE_INFINITY)), room);
  screen.line(
    `${screen.paint(colour, "◆")} ${screen.paint("bold", short)}  ${screen.paint("bold", name)} ${shown}`,
  );
  const run = screen.isTerminal ? shortId(run_id) : run_id;
  const asked = `asked by ${cleanLine(requester)}, ${when(screen, requested_at)}, run ${run}`;
  screen.paragraph(`${asked} · ${stateOf(approval)}`, DEEP, "dim");
  for (const reason of reasons) screen.paragraph(escapeHidden(cleanLine(reason)), DEEP);
}

/** How it stands, in words. */
export function stateOf({ kind, state, deadline, decision }: Approval): string {
  const by = cleanLine(decision?.by ?? "");
  switch (state) {
    case "pending":
      if (deadline === null) return "waits for as long as it takes";
      return deadline <= Date.now() ? "its deadline has passed" : `${remaining(deadline - Date.now())} left`;
    case "approved":
      return kind === "tool_call" ? `approved by ${by}` : `answered by ${by}`;
    case "rejected":
      return kind === "unknown_outcome" ? `given up by ${by}` : `rejected by ${by}`;
    case "timed_out":
      return "not decided in time";
    case "cancelled":
      return "no longer asked, the run was stopped";
  }
}
