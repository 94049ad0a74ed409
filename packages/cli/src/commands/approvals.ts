import { STORE_EXIT_HELP, STORE_OPTIONS_HELP } from "../config/in-store.ts";
import { subcommands } from "../subcommands.ts";
import { answer } from "./approvals/answer.ts";
import { approve } from "./approvals/approve.ts";
import { inbox } from "./approvals/inbox.ts";
import { list } from "./approvals/list.ts";
import { reject } from "./approvals/reject.ts";
import { rules } from "./approvals/rules.ts";
import { show } from "./approvals/show.ts";

const help = `trackside approvals    decides what waits for a decision, in any run of a store

  trackside approvals                  on a terminal: asks you about one after the other; else lists them
  trackside approvals list             lists what waits, the oldest first
  trackside approvals show <id>        one of them, with its whole arguments
  trackside approvals approve <id>     lets the call run; with --edit, with other arguments
  trackside approvals reject <id>      does not; the model reads the --reason
  trackside approvals answer <id>      says what came of a call whose outcome is unknown, or gives a result
  trackside approvals rules            lists the decisions that are remembered, and revokes them

Deciding works while no worker is up. The end of an id is enough where no other approval has it.
trackside approvals <command> --help shows the options of each.

Options
  --interactive           asks, and fails where there is no terminal
  --by name               who decides; your user name on this machine unless given
  --json                  lists each record as one line of JSON
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside approvals
  trackside approvals approve k3x9q2ab.1.1
  trackside approvals reject k3x9q2ab.1.1 --reason "not on a Friday"
`;

export const command = subcommands("approvals", {
  help,
  commands: { list, show, approve, reject, answer, rules },
  otherwise: inbox(help),
});
