import type { Scenario } from "../support/scenario.ts";
import { ARTIFACTS } from "./scenarios/artifacts.ts";
import { CONTEXT } from "./scenarios/context.ts";
import { DELEGATION } from "./scenarios/delegation.ts";
import { ENDINGS } from "./scenarios/endings.ts";
import { GUARDS } from "./scenarios/guards.ts";
import { PEOPLE } from "./scenarios/people.ts";
import { PIPELINE } from "./scenarios/pipeline.ts";
import { SERVERS } from "./scenarios/servers.ts";
import { TOOLS } from "./scenarios/tools.ts";
import { WORKFLOWS } from "./scenarios/workflows.ts";

/** Every run that has to survive a crash at any point. What writes something durable adds its own. */
export const SCENARIOS: readonly Scenario[] = [
  ...TOOLS,
  ...ARTIFACTS,
  ...PEOPLE,
  ...GUARDS,
  ...PIPELINE,
  ...CONTEXT,
  ...DELEGATION,
  ...WORKFLOWS,
  ...SERVERS,
  ...ENDINGS,
];
