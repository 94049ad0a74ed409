import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { type Outcome, runPrograms } from "../scripts/run-programs.ts";

const timeoutMs = 120_000;

/** What each of the later examples shows, beyond that it ends well. */
const shown: [example: string, lines: RegExp[]][] = [
  [
    "14-plan.ts",
    [
      /^planner calls open_tickets\n3 steps are planned\nexecutor calls close_ticket$/m,
      /^2 Close T-2 with close_ticket - it is the newer one$/m,
      /^the executor was sent the plan: true\nthe log has it: false$/m,
    ],
  ],
  [
    "15-budget.ts",
    [
      /(^day \d+: summarised, \d+ → \d+: .*\n){2,}/m,
      /^the log still has all of it: 30 messages$/m,
      /^budget: The token budget of this run is used up: .*\nrequests for it: 0$/m,
    ],
  ],
  [
    "16-parallel-research.ts",
    [
      /^1\.1\[0\] calls look_up$/m,
      /^1\.1\[1\] calls look_up$/m,
      /"people": 273000\s+\}[\s\S]*"Leie"\s+\][\s\S]*"output": "Three towers, one sky\."/,
      /^Here is what we found\. 8 model calls in all$/m,
    ],
  ],
  [
    "17-mcp.ts",
    [
      /^(reports: page \d, \d of 4\n){4}mcp__reports__build .*A report of 4 pages\./m,
      /^The report has four pages\.$/m,
    ],
  ],
  [
    "18-handoff.ts",
    [
      /^triage → billing: a refund\nrefund .*order 17 is refunded.*\n[\s\S]*^billing → triage: /m,
      /^one log of 8 messages, 4 steps in all$/m,
    ],
  ],
  [
    "19-ops-supervisor.ts",
    [
      /^plan: Check both services \/ /m,
      /^1\.1\[1\]: service_status not_required \{\}$/m,
      /^supervisor: spawn_parallel not_required \{"run_origin":"playground"\}$/m,
      /^supervisor: half of it is up\nsupervisor: deploy_service approved \{"ui_request_id":"r7"\}$/m,
      /^supervisor: rotate_credentials rejected \{\}$/m,
      /^stubbed: \d+ → \d+$/m,
      /^answered: Both run with 3 replicas\. /m,
    ],
  ],
  [
    "21-workflow.ts",
    [
      /^review completed\nDeploy shop\? \{"reviews":\["No open incident\.","All tests pass\."\]\}$/m,
      /^ask completed\ndeploy completed\nhttps:\/\/shop\.example\.com 2$/m,
    ],
  ],
];

const pathOf = (example: string) => join(import.meta.dirname, example);
let outcomes: ReadonlyMap<string, Outcome>;
beforeAll(async () => {
  outcomes = await runPrograms(
    shown.map(([example]) => pathOf(example)),
    { timeoutMs },
  );
}, 600_000);

test.each(shown)("%s shows what it is for", (example, lines) => {
  const outcome = outcomes.get(pathOf(example));
  expect(outcome).toEqual({ output: expect.any(String) });
  for (const line of lines) expect(outcome).toEqual({ output: expect.stringMatching(line) });
});
