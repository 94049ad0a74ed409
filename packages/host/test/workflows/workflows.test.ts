import { AgentConfigError, defineWorkflow } from "trackside";
import { describe, expect, test } from "vitest";
import { VersionConflictError } from "../../src/index.ts";
import { type Database, onBothStores, sqliteDatabase } from "../agents/support/stores.ts";
import { ANN, echo, flowOf, roomOn } from "./support/room.ts";

const DEPLOY = {
  name: "deploy",
  description: "Looks, asks, does.",
  input: { type: "object", properties: { order: { type: "number" } }, required: ["order"] },
  nodes: {
    look: { kind: "tool", tool: "look_up", arguments: { order: "{{ input.order }}" } },
    paid: { kind: "condition", if: { left: "{{ nodes.look.paid }}", op: "==", right: true } },
    ask: { kind: "approval", message: "Refund {{ nodes.look.total }}?" },
    tell: { kind: "agent", agent: "clerk", prompt: "Tell them: {{ nodes.look.total }}" },
  },
  edges: [
    { from: "look", to: "paid" },
    { from: "paid", to: "ask", when: "true" },
    { from: "ask", to: "tell" },
  ],
};

await onBothStores("stored workflows", (database) => {
  test("W4 what is exported and imported is the same workflow, byte for byte", async () => {
    const { workflows } = await roomOn((await database())());
    const made = await workflows.create(DEPLOY, ANN);
    expect(made).toMatchObject({ version: 1, source: "stored", updated_by: "ann", definition: DEPLOY });

    const text = JSON.stringify(await workflows.export("deploy"));
    await workflows.delete("deploy", ANN);
    const again = await workflows.import(text, ANN);
    expect(JSON.stringify(again.definition)).toBe(text);
    expect(JSON.stringify(await workflows.export("deploy"))).toBe(text);
    const other = await workflows.import(JSON.parse(text), { ...ANN, as: "other" });
    expect(other.definition).toEqual({ ...made.definition, name: "other" });
    expect(other.digest).not.toBe(made.digest);
  });

  test("two who save the same version at once, in two processes: exactly one wins", async () => {
    const store = await database();
    const [here, there] = [await roomOn(store()), await roomOn(store())];
    await here.workflows.create(flowOf("flow"), ANN);
    for (let version = 1; version <= 3; version += 1) {
      const saves = await Promise.allSettled(
        [here, there].map(({ workflows }, i) =>
          workflows.save("flow", flowOf("flow", { description: `${version} ${i}` }), {
            by: `person ${i}`,
            version,
          }),
        ),
      );
      expect(saves.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      const winner = saves.findIndex(({ status }) => status === "fulfilled");
      expect(await there.workflows.get("flow")).toMatchObject({
        version: version + 1,
        updated_by: `person ${winner}`,
      });
    }
    expect((await here.workflows.versions("flow")).map(({ n }) => n)).toEqual([4, 3, 2, 1]);
    const made = await Promise.allSettled(
      [here, there].map(({ workflows }) => workflows.create(flowOf("twice"), ANN)),
    );
    expect(made.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { code: "name_taken" },
    });
    expect(await here.audit.verify()).toMatchObject({ ok: true });
  });

  test("versions, what differs between them, and one brought back", async () => {
    const { workflows, audit } = await roomOn((await database())());
    const first = await workflows.create(flowOf("flow"), { ...ANN, note: "begun" });
    const changed = flowOf("flow", {
      nodes: { say: { kind: "tool", tool: "echo", arguments: { value: "more" }, timeout_ms: 500 } },
    });
    await workflows.save("flow", changed, { by: "bob", version: 1, note: "says more" });
    expect(await workflows.diff("flow", 1, 2)).toEqual([
      { path: "nodes.say.arguments.value", kind: "changed", before: "flow", after: "more" },
      { path: "nodes.say.timeout_ms", kind: "added", after: 500 },
    ]);
    const back = await workflows.restore("flow", 1, { ...ANN, version: 2 });
    expect(back).toMatchObject({ version: 3, digest: first.digest, definition: first.definition });
    expect(await workflows.versions("flow")).toMatchObject([
      { n: 3, by: "ann", restored_from: 1, note: null },
      { n: 2, by: "bob", note: "says more" },
      { n: 1, by: "ann", note: "begun" },
    ]);
    expect((await workflows.version("flow", 2)).definition).toMatchObject(changed);
    await expect(workflows.version("flow", 9)).rejects.toMatchObject({ code: "not_found" });
    // The same again is no version.
    expect((await workflows.save("flow", back.definition, { ...ANN, version: 3 })).version).toBe(3);
    const actions = (await audit.list()).map(({ action }) => action);
    expect(actions).toEqual(
      expect.arrayContaining(["workflow.created", "workflow.saved", "workflow.restored"]),
    );
  });

  test("delete, clone, rename and search; a deleted one's versions are still there by its id", async () => {
    const { workflows } = await roomOn((await database())());
    const { id } = await workflows.create(flowOf("One"), ANN);
    await workflows.clone("One", "two", ANN);
    await workflows.save("two", flowOf("Three"), { ...ANN, version: 1 });
    expect((await workflows.list()).map(({ name }) => name)).toEqual(["One", "Three"]);
    expect((await workflows.list({ search: "THR" })).map(({ name }) => name)).toEqual(["Three"]);
    expect((await workflows.list({ after: "One", limit: 1 })).map(({ name }) => name)).toEqual(["Three"]);
    await expect(workflows.clone("One", "Three", ANN)).rejects.toMatchObject({ code: "name_taken" });
    await expect(workflows.delete("One", { ...ANN, version: 7 })).rejects.toMatchObject({
      code: "version_conflict",
    });
    await workflows.delete("One", ANN);
    await expect(workflows.get("One")).rejects.toThrow(/There is no workflow "One". Known: "Three"/);
    expect(await workflows.versions(id)).toMatchObject([{ n: 1, name: "One" }]);
    await expect(workflows.versions("One")).rejects.toMatchObject({ code: "not_found" });
  });

  test("H1 a tenant sees none of another's workflows, nor may name its agents", async () => {
    const { workflows } = await roomOn((await database())());
    await workflows.create(flowOf("flow"), ANN);
    const acme = { tenant: "acme" };
    expect(await workflows.list(acme)).toEqual([]);
    for (const work of [
      () => workflows.get("flow", acme),
      () => workflows.export("flow", acme),
      () => workflows.versions("flow", acme),
      () => workflows.version("flow", 1, acme),
      () => workflows.delete("flow", { ...ANN, ...acme }),
      () => workflows.start("flow", {}, { scope: acme }),
      () => workflows.save("flow", flowOf("flow"), { ...ANN, ...acme, version: 1 }),
    ])
      await expect(work()).rejects.toMatchObject({ code: "not_found" });
    const uses = flowOf("uses", { nodes: { a: { kind: "agent", agent: "clerk", prompt: "hi" } } });
    expect(await workflows.validate(uses)).toMatchObject({ ok: true });
    expect(await workflows.validate(uses, acme)).toMatchObject({ issues: [{ path: "nodes.a.agent" }] });
    await workflows.create(flowOf("flow"), { ...ANN, ...acme });
  });
});

describe("stored workflows", () => {
  const database: Database = async () => sqliteDatabase();

  test("W4 every problem is told at once, each with its path, and nothing is stored", async () => {
    const { workflows } = await roomOn((await database())());
    const wrong = {
      ...DEPLOY,
      nodes: {
        ...DEPLOY.nodes,
        tell: { kind: "agent", agent: "clrk", prompt: "hi" },
        say: { kind: "tool", tool: "eco", arguments: { value: "{{ nodes.nobody }}" } },
        sub: { kind: "workflow", workflow: "nothing" },
      },
      edges: [...DEPLOY.edges, { from: "tell", to: "nowhere" }, { from: "tell", to: "look" }],
      rails: [{ use: "no-such-rail" }],
      hitl_tools: ["no_tool"],
    };
    const found = await workflows.validate(wrong);
    const paths = found.issues.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining([
        "nodes.tell.agent",
        "nodes.say.tool",
        "nodes.sub.workflow",
        "rails[0].use",
        expect.stringMatching(/^edges\[3\]/),
      ]),
    );
    expect(found.issues.map(({ message }) => message).join("\n")).toMatch(/cycle|circle/);
    for (const { message, allowed } of found.issues) expect(message && allowed).not.toBe("");
    await expect(workflows.create(wrong, ANN)).rejects.toThrow(AgentConfigError);
    expect(await workflows.list()).toEqual([]);
    await expect(workflows.import("{not json", ANN)).rejects.toMatchObject({ code: "config_invalid" });
  });

  test("W4 a circle through other workflows is refused, however long", async () => {
    const { workflows } = await roomOn((await database())());
    const runs = (name: string, workflow: string) => ({
      name,
      nodes: { sub: { kind: "workflow", workflow } },
    });
    await workflows.create(flowOf("a"), ANN);
    await workflows.create(runs("b", "a"), ANN);
    await workflows.create(runs("c", "b"), ANN);
    const round = await workflows.validate(runs("a", "c"), { name: "a" });
    expect(round).toMatchObject({ ok: false, issues: [{ path: "nodes.sub.workflow" }] });
    await expect(workflows.save("a", runs("a", "c"), { ...ANN, version: 1 })).rejects.toThrow(/a/);
    expect((await workflows.get("a")).version).toBe(1);
    expect(await workflows.validate(runs("itself", "itself"))).toMatchObject({ ok: false });
  });

  test("a stale save is told which version there is and who saved it; the right one wins", async () => {
    const { workflows } = await roomOn((await database())());
    await workflows.create(flowOf("flow"), ANN);
    await workflows.save("flow", flowOf("flow", { description: "one" }), { by: "bob", version: 1 });
    const stale = workflows.save("flow", flowOf("flow", { description: "two" }), { ...ANN, version: 1 });
    await expect(stale).rejects.toThrow(VersionConflictError);
    await expect(stale).rejects.toMatchObject({
      current: { version: 2, by: "bob" },
      message: expect.stringMatching(/The workflow "flow" is at version 2, saved by bob; 1 was given/),
    });
    expect((await workflows.get("flow")).definition).toMatchObject({ description: "one" });
  });

  test("one that is restored is checked again: what it names may be gone", async () => {
    const { workflows, agents } = await roomOn((await database())());
    await workflows.create(
      flowOf("flow", { nodes: { a: { kind: "agent", agent: "clerk", prompt: "hi" } } }),
      ANN,
    );
    await workflows.save("flow", flowOf("flow"), { ...ANN, version: 1 });
    await agents.delete("clerk", ANN);
    await expect(workflows.restore("flow", 1, { ...ANN, version: 2 })).rejects.toMatchObject({
      issues: [{ path: "nodes.a.agent" }],
    });
  });

  test("those in code are listed beside the others and cannot be changed here", async () => {
    const given = defineWorkflow({
      name: "in-code",
      nodes: { say: { kind: "tool", tool: echo, arguments: { value: 1 } } },
    });
    const { workflows } = await roomOn((await database())(), { workflows: [given] });
    await workflows.create(flowOf("zebra"), ANN);
    expect((await workflows.list()).map(({ name, source }) => [name, source])).toEqual([
      ["in-code", "code"],
      ["zebra", "stored"],
    ]);
    const { id } = await workflows.get("in-code");
    for (const key of ["in-code", id]) {
      await expect(workflows.save(key, flowOf("in-code"), { ...ANN, version: 1 })).rejects.toMatchObject({
        code: "read_only",
        message: expect.stringMatching(/defined in code, in `workflows` of the host/),
      });
      await expect(workflows.delete(key, ANN)).rejects.toMatchObject({ code: "read_only" });
      await expect(workflows.versions(key)).rejects.toMatchObject({ code: "not_found" });
    }
    expect(await workflows.validate(flowOf("in-code"))).toMatchObject({ issues: [{ path: "name" }] });
    const copy = await workflows.clone("in-code", "mine", ANN);
    expect(copy).toMatchObject({ source: "stored", definition: { nodes: { say: { tool: "echo" } } } });
    // One in code may be run within a stored one.
    const outer = { name: "outer", nodes: { sub: { kind: "workflow", workflow: "in-code" } } };
    expect(await workflows.validate(outer)).toMatchObject({ ok: true });
  });

  test("the catalog has agents, tools, workflows and rails with what goes in and out", async () => {
    const { workflows, agents } = await roomOn((await database())());
    const output_schema = { type: "object", properties: { urgent: { type: "boolean" } } };
    await agents.create({ definition: { name: "sorter", model: "demo:echo", output_schema } }, ANN);
    await workflows.create(DEPLOY, ANN);
    const { agents: known, tools, workflows: flows } = await workflows.catalog();
    expect(known).toEqual([
      { name: "clerk", source: "stored", output_schema: null },
      { name: "sorter", source: "stored", output_schema },
    ]);
    expect(tools.find(({ name }) => name === "look_up")).toMatchObject({
      input_schema: { properties: { order: { type: "number" } } },
      output_schema: { properties: { total: { type: "number" } } },
    });
    expect(flows).toEqual([
      {
        name: "deploy",
        source: "stored",
        description: "Looks, asks, does.",
        input: DEPLOY.input,
        output_schema: null,
      },
    ]);
    expect((await workflows.catalog({ tenant: "acme" })).agents).toEqual([]);
  });

  test("validation tells of a name that another workflow has", async () => {
    const { workflows } = await roomOn((await database())());
    await workflows.create(flowOf("flow"), ANN);
    await workflows.create(flowOf("other"), ANN);
    expect(await workflows.validate(flowOf("flow"), { name: null })).toMatchObject({
      issues: [{ path: "name" }],
    });
    expect(await workflows.validate(flowOf("flow"), { name: "flow" })).toMatchObject({ ok: true });
    expect(await workflows.validate(flowOf("flow"), { name: "other" })).toMatchObject({
      issues: [{ path: "name" }],
    });
  });
});
