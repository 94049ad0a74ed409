import { Agent, AgentConfigError, defineTool, type Tool } from "trackside";
import { expect, test } from "vitest";
import * as z from "zod";
import { VersionConflictError } from "../../src/index.ts";
import { rows } from "../../src/store/index.ts";
import { agentOf, hostOn, SEED_EXAMPLE } from "./support/host.ts";
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
    await trackside.agents.create({ definition: agentOf("ops", { hitl_tools: ["deploy_service"] }) }, ANN);

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

  test("two who save the same version at once, in two processes: exactly one wins, ten times over", async () => {
    const store = await database();
    const [here, there] = [hostOn(store()), hostOn(store())];
    await here.agents.create({ definition: agentOf("clerk") }, ANN);
    for (let version = 1; version <= 10; version += 1) {
      const saves = await Promise.allSettled(
        [here, there].map((one, i) =>
          one.agents.save(
            "clerk",
            { definition: agentOf("clerk", { max_steps: version * 10 + i }) },
            { by: `person ${i}`, version },
          ),
        ),
      );
      const lost = saves.filter((one) => one.status === "rejected");
      expect(lost).toHaveLength(1);
      const winner = saves.findIndex((one) => one.status === "fulfilled");
      expect(lost[0]?.reason).toMatchObject({
        code: "version_conflict",
        current: { version: version + 1, by: `person ${winner}` },
      });
      expect(await there.agents.get("clerk")).toMatchObject({
        version: version + 1,
        definition: { max_steps: version * 10 + winner },
        updated_by: `person ${winner}`,
      });
    }
    const versions = await here.agents.versions("clerk");
    expect(versions.map(({ n }) => n)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(await here.audit.verify()).toMatchObject({ ok: true });
  });

  test("two who create an agent of one name at once, in two processes: exactly one has it", async () => {
    const store = await database();
    const hosts = [hostOn(store()), hostOn(store())];
    const made = await Promise.allSettled(
      hosts.map((one, i) => one.agents.create({ definition: agentOf("clerk") }, { by: `person ${i}` })),
    );
    expect(made.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const [lost] = made.filter((one) => one.status === "rejected");
    expect(lost?.reason).toMatchObject({ code: "name_taken" });
    expect(await hosts[0]?.agents.versions("clerk")).toHaveLength(1);
  });

  test("every version can be read, compared and brought back, and none of it is lost", async () => {
    const { agents } = hostOn((await database())(), { tools: OPS });
    const first = agentOf("clerk", { tools: ["search"] });
    const second = agentOf("clerk", { tools: ["search", "deploy_service"], max_steps: 5, temperature: 0 });
    await agents.create({ definition: first }, { ...ANN, note: "begun" });
    await agents.save("clerk", { definition: second }, { by: "bob", version: 1, note: "more tools" });

    expect(await agents.versions("clerk")).toMatchObject([
      { n: 2, by: "bob", note: "more tools", restored_from: null },
      { n: 1, by: "ann", note: "begun" },
    ]);
    expect((await agents.version("clerk", 1)).definition).toMatchObject(first);
    expect(await agents.diff("clerk", 1, 2)).toEqual([
      { path: "max_steps", kind: "changed", before: 20, after: 5 },
      { path: "temperature", kind: "changed", before: null, after: 0 },
      { path: "tools[1]", kind: "added", after: "deploy_service" },
    ]);

    const back = await agents.restore("clerk", 1, { by: "cleo", version: 2 });
    expect(back).toMatchObject({ version: 3, updated_by: "cleo", definition: first });
    expect(await agents.version("clerk", 3)).toMatchObject({ restored_from: 1, by: "cleo" });
    expect(await agents.diff("clerk", 1, 3)).toEqual([]);
    await expect(agents.restore("clerk", 2, { by: "cleo", version: 2 })).rejects.toMatchObject({
      code: "version_conflict",
    });
    await expect(agents.version("clerk", 9)).rejects.toMatchObject({ code: "not_found" });
  });

  test("saving what is there already makes no version", async () => {
    const { agents } = hostOn((await database())());
    const { definition } = await agents.create({ definition: agentOf("clerk") }, ANN);
    expect(await agents.save("clerk", { definition }, { by: "bob", version: 1 })).toMatchObject({
      version: 1,
      updated_by: "ann",
    });
  });

  test("an agent can be given another name, unless that is somebody's; its versions go with it", async () => {
    const { agents } = hostOn((await database())());
    const { id } = await agents.create({ definition: agentOf("clerk") }, ANN);
    await agents.create({ definition: agentOf("other") }, ANN);
    const other = { definition: agentOf("other") };
    await expect(agents.save("clerk", other, { ...ANN, version: 1 })).rejects.toMatchObject({
      code: "name_taken",
    });
    await agents.save("clerk", { definition: agentOf("cashier") }, { ...ANN, version: 1 });
    await expect(agents.get("clerk")).rejects.toThrow(
      /There is no agent "clerk"\. Known: "cashier", "other"\./,
    );
    expect(await agents.get("cashier")).toMatchObject({ id, version: 2 });
    expect((await agents.versions("cashier")).map(({ name }) => name)).toEqual(["cashier", "clerk"]);
    expect(await agents.get(id)).toMatchObject({ name: "cashier" });
  });

  test("a deleted agent is gone, its name is free, and its versions are found by its id until they are erased", async () => {
    const { agents } = hostOn((await database())());
    const { id } = await agents.create({ definition: agentOf("clerk") }, ANN);
    await expect(agents.delete("clerk", { by: "bob", version: 7 })).rejects.toMatchObject({
      code: "version_conflict",
    });
    await agents.delete("clerk", { by: "bob" });
    await expect(agents.get("clerk")).rejects.toMatchObject({ code: "not_found" });
    await expect(agents.delete("clerk", { by: "bob" })).rejects.toMatchObject({ code: "not_found" });
    expect(await agents.versions(id)).toHaveLength(1);
    expect(await agents.version(id, 1)).toMatchObject({ definition: agentOf("clerk") });

    const again = await agents.create({ definition: agentOf("clerk", { max_steps: 2 }) }, ANN);
    expect(again.id).not.toBe(id);
    expect(await agents.versions("clerk")).toHaveLength(1);
    await agents.delete("clerk", { by: "bob", erase: true });
    await expect(agents.versions(again.id)).rejects.toMatchObject({ code: "not_found" });
  });

  test("every write is in the audit of its tenant, with digests and no content, and the chain holds", async () => {
    const trackside = hostOn((await database())());
    const { agents, audit } = trackside;
    const secret = "the word is swordfish";
    const { id } = await agents.create({ definition: agentOf("clerk", { instructions: secret }) }, ANN);
    await agents.save("clerk", { definition: agentOf("clerk") }, { by: "bob", version: 1 });
    await agents.restore("clerk", 1, { by: "cleo", version: 2 });
    await agents.delete("clerk", { by: "dora" });

    const entries = await audit.list({ action: "agent." });
    expect(entries.map(({ action, by }) => `${action} by ${by}`)).toEqual([
      "agent.created by ann",
      "agent.saved by bob",
      "agent.restored by cleo",
      "agent.deleted by dora",
    ]);
    for (const { about } of entries) expect(about).toMatchObject({ agent: id, name: "clerk" });
    expect(entries[2]).toMatchObject({ about: { version: 3, restored_from: 1 } });
    expect(entries[0]?.after).toMatch(/^hmac-sha256:/);
    const kept = await trackside.engine.store.read((db) => rows(db.selectFrom("audit").select("body")));
    expect(JSON.stringify(kept)).not.toContain("swordfish");
    expect(await audit.verify()).toMatchObject({ ok: true });
    // A change that was refused is no change.
    await expect(agents.create({ definition: { name: "x" } }, ANN)).rejects.toThrow(AgentConfigError);
    expect(await audit.list({ action: "agent." })).toHaveLength(4);
  });

  test("tenants never see each other's agents, not even by id", async () => {
    const { agents } = hostOn((await database())());
    const a = await agents.create({ definition: agentOf("clerk") }, { ...ANN, tenant: "a" });
    const b = await agents.create(
      { definition: agentOf("clerk", { max_steps: 2 }) },
      { ...ANN, tenant: "b" },
    );
    expect(await agents.get("clerk", { tenant: "a" })).toMatchObject({ id: a.id, tenant: "a" });
    expect((await agents.list({ tenant: "b" })).map(({ id }) => id)).toEqual([b.id]);
    expect(await agents.list()).toEqual([]);
    for (const look of [
      () => agents.get(a.id, { tenant: "b" }),
      () => agents.versions(a.id, { tenant: "b" }),
      () => agents.version(a.id, 1, { tenant: "b" }),
      () => agents.export(a.id, { tenant: "b" }),
      () => agents.diff(a.id, 1, 1, { tenant: "b" }),
      () => agents.delete(a.id, { ...ANN, tenant: "b" }),
      () => agents.save(a.id, { definition: agentOf("mine") }, { ...ANN, tenant: "b", version: 1 }),
      () => agents.restore(a.id, 1, { ...ANN, tenant: "b", version: 1 }),
      () => agents.clone(a.id, "mine", { ...ANN, tenant: "b" }),
    ])
      await expect(look()).rejects.toMatchObject({ code: "not_found" });
    expect(await agents.get("clerk", { tenant: "a" })).toMatchObject({ version: 1 });
  });

  test("agents in code are listed among the others and cannot be changed here, only cloned", async () => {
    const shop = new Agent(
      { name: "shop", model: "openai:gpt-4o", tools: ["search"] as never },
      { tools: OPS },
    );
    const inline = new Agent({ name: "inline", model: "openai:gpt-4o", tools: [named("own")] });
    const { agents } = hostOn((await database())(), { agents: [shop, inline], tools: OPS });
    await agents.create({ definition: agentOf("Zoe") }, ANN);
    await agents.create({ definition: agentOf("mail") }, ANN);

    expect((await agents.list()).map(({ name, source }) => `${name} ${source}`)).toEqual([
      "Zoe stored",
      "inline code",
      "mail stored",
      "shop code",
    ]);
    expect((await agents.list({ limit: 2, after: "inline" })).map(({ name }) => name)).toEqual([
      "mail",
      "shop",
    ]);
    expect((await agents.list({ search: "z" })).map(({ name }) => name)).toEqual(["Zoe"]);
    expect(await agents.get("shop")).toMatchObject({ source: "code", definition: { tools: ["search"] } });

    const change = { definition: agentOf("shop") };
    for (const refused of [
      agents.save("shop", change, { ...ANN, version: 1 }),
      agents.delete("shop", ANN),
      agents.restore("code:shop", 1, { ...ANN, version: 1 }),
    ])
      await expect(refused).rejects.toMatchObject({
        code: "read_only",
        message: expect.stringMatching(/"shop" is defined in code, in `agents` of the host/),
      });
    await expect(agents.create(change, ANN)).rejects.toThrow(
      /name: a name that no agent in code has expected/,
    );

    expect(await agents.clone("shop", "my shop", ANN)).toMatchObject({
      source: "stored",
      definition: { name: "my shop", tools: ["search"] },
    });
    await expect(agents.export("inline")).rejects.toMatchObject({ code: "not_serializable" });
  });

  test("an agent whose name code has taken since is there to be renamed, and marked", async () => {
    const store = await database();
    const before = hostOn(store());
    const { id } = await before.agents.create({ definition: agentOf("clerk") }, ANN);
    await before.close();
    const clerk = new Agent({ name: "clerk", model: "openai:gpt-4o" });
    const { agents } = hostOn(store(), { agents: [clerk] });
    expect((await agents.list()).map(({ id: one, shadowed }) => [one, shadowed])).toEqual([
      ["code:clerk", undefined],
      [id, true],
    ]);
    expect(await agents.get("clerk")).toMatchObject({ source: "code" });
    await agents.save(id, { definition: agentOf("old clerk") }, { ...ANN, version: 1 });
    expect(await agents.get("old clerk")).toMatchObject({ id, source: "stored" });
  });
});
