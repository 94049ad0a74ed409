import type { ApprovalRule } from "@trackside/host";
import { noMore, readArguments } from "../../arguments.ts";
import { type Command, EXIT, showHelp } from "../../command.ts";
import { inStore, STORE_EXIT_HELP, STORE_OPTIONS, STORE_OPTIONS_HELP } from "../../config/in-store.ts";
import type { Screen } from "../../screen/screen.ts";
import { showTable } from "../../screen/table.ts";
import { clockTime, when } from "../../screen/times.ts";
import { findId } from "../../short-id.ts";
import { subcommands } from "../../subcommands.ts";
import { DECIDE_OPTIONS, signed } from "./decide.ts";

const help = `trackside approvals rules              lists the decisions that are remembered
trackside approvals rules revoke <id>    forgets one: the next such call is asked about again

Options
  --all                   also those that were revoked
  --by name               with revoke: who; your user name on this machine unless given
  --reason text           with revoke: why
  --json                  prints each rule as one line of JSON
${STORE_OPTIONS_HELP}

${STORE_EXIT_HELP}

Examples
  trackside approvals rules
  trackside approvals rules revoke rule_k3x9q2ab.1.1 --reason "it was too much"
`;

const list: Command = {
  help,
  async run(args, io) {
    const { values, positionals } = readArguments(args, { ...STORE_OPTIONS, all: { type: "boolean" } });
    if (values.help) return showHelp(io, help);
    noMore(positionals, 0, "trackside approvals rules");
    return inStore(io, values, async ({ trackside, scope, json, screen, line }) => {
      const rules = await trackside.approvals.rules({ ...scope, revoked: values.all === true });
      if (json) for (const rule of rules) line(rule);
      else showRules(screen, rules);
      return EXIT.completed;
    });
  },
};

const revoke: Command = {
  help,
  async run(args, io) {
    const { values, positionals } = readArguments(args, DECIDE_OPTIONS);
    if (values.help) return showHelp(io, help);
    noMore(positionals, 1, "trackside approvals rules revoke <id>");
    return inStore(io, values, async ({ trackside, scope, json, screen, line }) => {
      const id = await findId(trackside, "approval_rules", positionals[0], scope.tenant);
      const rule = await trackside.approvals.revokeRule(id, { ...scope, ...signed(values, io) });
      if (json) line(rule);
      else screen.line(`${id} is revoked; the next such call of ${rule.tool} is asked about.`);
      return EXIT.completed;
    });
  },
};

export const rules = subcommands("approvals rules", { help, commands: { list, revoke }, otherwise: list });

function showRules(screen: Screen, found: readonly ApprovalRule[]): void {
  if (found.length === 0) {
    screen.line("No decision is remembered.");
    return;
  }
  showTable(
    screen,
    ["RULE", "DOES", "TOOL", "AGENT", "ARGUMENTS", "UNTIL", "BY", "MADE"],
    found.map((rule) => [
      { text: rule.id, style: "bold" },
      rule.revoked === null
        ? { text: rule.effect, style: rule.effect === "approve" ? "green" : "red" }
        : "revoked",
      rule.tool,
      rule.agent ?? "any",
      rule.match.kind === "tool" ? "any" : "the same",
      rule.until === null ? "revoked" : clockTime(rule.until),
      rule.created_by,
      when(screen, rule.created_at),
    ]),
  );
}
