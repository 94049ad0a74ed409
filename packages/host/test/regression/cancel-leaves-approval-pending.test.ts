import { join } from "node:path";
import { Agent, type AgentBinding, defineTool, defineWorkflow } from "trackside";
import { scriptedModel } from "trackside/testing";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { DurableEngine } from "../../src/journal/durable-engine.ts";
import { thisProcess } from "../../src/journal/process-identity.ts";
import { rows, type Store, sqlite } from "../../src/store/index.ts";

const dir = temporaryFolder("cancel-approval");
/** Above the greatest process id there can be: the owner of the first life is gone. */
const NO_PID = 2 ** 22 + 1;

const agent = new Agent({
  name: "gated",
  model: scriptedModel([{ calls: [{ tool: "pay" }] }, "never said"]),
  tools: [defineTool({ name: "pay", input: { type: "object" }, effect: "once", execute: () => "paid" })],
  hitlTools: ["pay"],
});
const workflow = defineWorkflow({
  name: "asking",
  nodes: { ask: { kind: "approval", message: "Pay?" } },
  edges: [],
  result: "{{ nodes.ask }}",
});

// The process dies between the write that opens the approval and the delivery that waits for it.
const CASES: readonly { title: string; binding: AgentBinding }[] = [
  { title: "X5 L1 a tool call", binding: agent },
  { title: "X5 W5 a workflow node", binding: workflow },
];
for (const { title, binding } of CASES)
  test(`${title}: an approval that no life waited for yet is closed when its run is cancelled after a crash`, async () => {
    const path = join(dir, `${binding.definition.name}.db`);
    const runId = await crashAfterOpening(path, binding);
    const store = sqlite(path, { sync: "normal" });
    const engine = new DurableEngine({ store, agents: [binding] });
    await engine.open({ claims: false });
    await engine.cancel(runId, "enough");
    await engine.close();

    const heir = sqlite(path, { sync: "normal" });
    const next = new DurableEngine({ store: heir, agents: [binding] });
    await next.open();
    await expect(next.result("default", runId)).rejects.toThrow("enough");
    expect(await approvalsIn(heir)).toEqual([expect.objectContaining({ state: "cancelled" })]);
    await next.close();
  });

/** Plays a run until its approval is in the store. Every later write of this life never lands. */
async function crashAfterOpening(path: string, binding: AgentBinding): Promise<string> {
  const store = sqlite(path, { sync: "normal" });
  let crashed: () => void = () => {};
  const crash = new Promise<void>((resolve) => {
    crashed = resolve;
  });
  const append = store.append.bind(store);
  store.append = async (...given) => {
    if ((await approvalsIn(store)).length === 0) return append(...given);
    crashed();
    return new Promise(() => {});
  };
  const engine = new DurableEngine({
    store,
    agents: [binding],
    identity: () => ({ ...thisProcess(), pid: NO_PID }),
  });
  onTestFinished(() => engine.close());
  await engine.open();
  engine.start(binding, "{}", {}).result.catch(() => {}); // this life never hears of its end
  await crash;
  const [run] = await store.read((db) => rows(db.selectFrom("runs").select("id")));
  return run?.id ?? "";
}

function approvalsIn(store: Store) {
  return store.read((db) => rows(db.selectFrom("approvals").select(["id", "state"])));
}
