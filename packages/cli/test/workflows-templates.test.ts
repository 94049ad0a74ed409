import { sqlite, Trackside } from "@trackside/host";
import { builtInRails } from "@trackside/rails";
import { afterAll, beforeAll, expect, test } from "vitest";
import { workflowTemplates } from "../../server/src/workflow-templates/index.ts";
import { demoModel, NO_PACE } from "../src/demo/demo-model.ts";
import { noAddresses, onCallDefinition } from "../src/demo/on-call-agent.ts";
import { releaseManager, releaseTools } from "../src/demo/release.ts";
import { shopTools } from "../src/demo/shop.ts";

const MODEL = "demo:scripted";
const BY = { by: "test" };

let demo: Trackside;

/** As the demo room has it, without its pauses. */
beforeAll(async () => {
  demo = new Trackside({
    store: sqlite(":memory:"),
    agents: [],
    tools: [...shopTools(), ...releaseTools(0)],
    rails: { ...builtInRails, [noAddresses.name]: () => noAddresses },
    models: { [MODEL]: demoModel(NO_PACE) },
    modelTable: { [MODEL]: { window: 128_000, output: 8_192 } },
  });
  for (const definition of [onCallDefinition(MODEL), releaseManager(MODEL)])
    await demo.agents.create({ definition }, BY);
  for (const { definition } of workflowTemplates) await demo.workflows.create(definition, BY);
});
afterAll(() => demo.close());

/** What a form begins with: the defaults of its schema. */
function suggested(id: string): Record<string, unknown> {
  const { definition } = workflowTemplates.find((one) => one.id === id) ?? {};
  const input = definition?.["input"] as { properties: Record<string, { default: unknown }> }; // as the templates have it
  return Object.fromEntries(
    Object.entries(input.properties).map(([key, { default: value }]) => [key, value]),
  );
}

async function outcome(id: string, choice: "approve" | "reject" = "approve") {
  const { runId, result } = await demo.workflows.start(id, suggested(id));
  const ended = result();
  const deciding = decideAll(runId, choice, ended);
  const { output } = await ended;
  await deciding;
  const events = await demo.runs.events(runId);
  const nodes = events.flatMap((event) =>
    event.type === "node" && event.state !== "started" ? [`${event.node} ${event.port ?? event.state}`] : [],
  );
  return { output, nodes };
}

async function decideAll(rootRunId: string, choice: string, ended: Promise<unknown>): Promise<void> {
  let isOver = false;
  ended.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    for (const { id } of await demo.approvals.list({ rootRunId }))
      await demo.approvals.decide(id, { choice, by: "ann" });
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test("triage and reply opens an incident for a service in trouble, and answers", async () => {
  const { output, nodes } = await outcome("triage-and-reply");
  expect(output).toMatchObject({
    incident: "INC-101",
    calm: null,
    urgent: expect.stringContaining("INC-101"),
  });
  expect(nodes).toContain("reply_calm skipped");
});

test("research with parallel agents sums up what each of them found", async () => {
  const { output, nodes } = await outcome("parallel-research");
  expect(output).toMatchObject({
    summary: expect.stringMatching(
      /^The shop as a whole: Checkout is degraded[\s\S]*\nEach service: Checkout/,
    ),
    services: [
      { status: "completed", output: expect.stringContaining("Checkout") },
      { status: "completed", output: expect.stringContaining("ayments") },
      { status: "completed", output: expect.stringContaining("earch") },
    ],
  });
  expect(nodes.at(-1)).toBe("summary completed");
});

test("W5 deploy with approval deploys when somebody says yes, and holds it when they do not", async () => {
  const yes = await outcome("deploy-with-approval");
  expect(yes.output).toMatchObject({ deployed: { deployed: true, version: "2.14" }, held: null });
  const no = await outcome("deploy-with-approval", "reject");
  expect(no.output).toMatchObject({ deployed: null, held: expect.any(String) });
  expect(no.nodes).toEqual(expect.arrayContaining(["ask rejected", "deploy skipped", "held completed"]));
});
