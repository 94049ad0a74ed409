import type { Approval } from "trackside";
import { STORE_EXIT_HELP, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import { onOne } from "../../config/on-one.ts";
import { showApproval, showChanges } from "../../screen/approval-view.ts";
import { changesBetween } from "../../screen/changes.ts";
import { escapeHidden } from "../../screen/json-text.ts";
import type { Screen } from "../../screen/screen.ts";
import { clockTime, waited } from "../../screen/times.ts";
import { shortId } from "../../short-id.ts";
import { stateOf } from "./list.ts";

const help = `trackside approvals show <id>    shows an approval with its whole arguments

  <id>      the id of an approval, or an end of it that no other has

Options
  --json                  prints the record as one line of JSON
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside approvals show k3x9q2ab.1.1
`;

export const show = onOne({
  help,
  usage: "trackside approvals show <id>",
  table: "approvals",
  async work({ trackside, scope, json, screen, line }, id) {
    const approval = await trackside.approvals.get(id, scope);
    if (json) line(approval);
    else showWhole(screen, approval);
  },
});

function showWhole(screen: Screen, approval: Approval): void {
  const { id, run_id, state, decision, requested_at } = approval;
  const isOpen = state === "pending";
  const head = isOpen ? "waits for a decision" : stateOf(approval);
  const about = `${id}, in run ${run_id}, asked at ${clockTime(requested_at)}`;
  showApproval(screen, approval, { head, call: undefined, decided: !isOpen, about });
  if (decision !== null) {
    screen.line(
      screen.paint(
        "dim",
        `  decided at ${clockTime(decision.at)}, after ${waited(decision.at - requested_at)}`,
      ),
    );
    if (decision.reason) screen.paragraph(escapeHidden(decision.reason), 4);
    if (decision.edited_arguments !== undefined)
      showChanges(screen, changesBetween(approval.arguments ?? {}, decision.edited_arguments));
    return;
  }
  if (!isOpen) return;
  const short = shortId(id);
  screen.line();
  if (approval.choices.includes("approve")) {
    screen.line(`  trackside approvals approve ${short}`);
    screen.line(`  trackside approvals reject ${short} --reason "…"`);
  } else
    for (const choice of approval.choices) {
      const response = choice === "submit" || choice === "ran" ? " --response '…'" : "";
      screen.line(`  trackside approvals answer ${short} --choice ${choice}${response}`);
    }
}
