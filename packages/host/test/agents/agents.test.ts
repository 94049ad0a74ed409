import { Agent, AgentConfigError, defineTool, type Tool } from "trackside";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { VersionConflictError } from "../../src/index.ts";
import { rows } from "../../src/store/index.ts";
import { agentOf, echo, hostOn, SEED_EXAMPLE } from "./support/host.ts";
import { onBothStores } from "./support/stores.ts";

const named = (name: string): Tool =>
  defineTool({ name, input: z.object({ target: z.string() }), execute: () => name });
const OPS = ["deploy_service", "rotate_credentials", "search"].map(named);
const ANN = { by: "ann" };

await onBothStores("stored agents", (database) => {
  test("A1 the seed's example comes back from create and export as it was given, byte for byte", async () => {
    const trackside = hostOn((await database())(), { tools: OPS });
    const given = JSON.parse(SEED_EXAMPLE);

    const made = await trackside.agents.create({ definition: given }, ANN);
    expect(JSON.stringify(made.definition)).toBe(JSON.stringify(given));
    expect(JSON.stringify(await trackside.agents.export("ops-supervisor"))).toBe(JSON.stringify(given));

    const again = await trackside.agents.import(JSON.stringify(made.definition), { ...ANN, as: "other" });
    expect(again.definition).toEqual({ ...given, name: "other" });
  });

  test("A1 absent tools stay absent, and bind the registered tools that hitl_tools names", async () => {
    const trackside = hostOn((await database())(), { tools: OPS });
    await trackside.agents.create(
      { definition: agentOf("ops", { hitl_tools: ["deploy_service"] }) },
      ANN,
    );

    expect(await trackside.agents.export("ops")).not.toHaveProperty("tools");
    const { runId, result } = await trackside.start("ops", "hi");
    await result();
    const { definition } = await trackside.runs.export(runId);
    expect(definition).toMatchObject({ tools: ["deploy_service"] });
  });

  test("W1 autonomous_mode is beside the definition and not in it", async () => {
    const trackside = hostOn((await database())());
    const made = await trackside.agents.create({ definition: agentOf("clerk") }, ANN);
    expect(made.autonomous_mode).toBe(false);

    const on = await trackside.agents.save(
      "clerk",
      { definition: made.definition, autonomous_mode: true },
      { ...ANN, version: 1 },
    );
    expect(on).toMatchObject({ version: 2, autonomous_mode: true, digest: made.digest });
    expect(on.definition).not.toHaveProperty("autonomous_mode");
    const kept = await trackside.agents.save(
      "clerk",
      { definition: agentOf("clerk", { max_steps: 3 }) },
      { ...ANN, version: 2 },
    );
    expect(kept.autonomous_mode).toBe(true);
    expect(await trackside.agents.diff("clerk", 1, 2)).toEqual([
      { path: "autonomous_mode", kind: "changed", before: false, after: true },
    ]);
  });

  test("a stale save is told which version there is and who saved it; the right one wins", async () => {
    const trackside = hostOn((await database())());
    const { agents } = trackside;
    await agents.create({ definition: agentOf("clerk") }, ANN);
    await agents.save("clerk", { definition: agentOf("clerk", { max_steps: 2 }) }, { by: "bob", version: 1 });

    const stale = agents.save(
      "clerk",
      { definition: agentOf("clerk", { max_steps: 3 }) },
      { by: "ann", version: 1 },
    );
    await expect(stale).rejects.toThrow(VersionConflictError);
    await expect(stale).rejects.toMatchObject({
      code: "version_conflict",
      current: { version: 2, by: "bob" },
      message: expect.stringMatching(/at version 2, saved by bob; 1 was given/),
    });
    expect((await agents.get("clerk")).definition).toMatchObject({ max_steps: 2 });
  });
});
