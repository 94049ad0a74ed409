import { Agent, Conversation, defineRail, defineTool, type Rail, type Tool, ToolFile } from "trackside";
import { type ScriptedRequest, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { serviceSuite, sharedPostgres } from "../../../../scripts/services/index.ts";
import { keyring, postgres, type Store, sqlite, Trackside, type TracksideOptions } from "../../src/index.ts";
import { databaseFile } from "../engine/support/database.ts";

type Script = Parameters<typeof scriptedModel>[0];

const LARGE = `${"hay\n".repeat(20_000)}needle\n${"hay\n".repeat(20_000)}`;
const PICTURE = new Uint8Array(20_000).map((_, i) => (i * 31) % 256);

const agentOf = (script: Script, tools: readonly Tool[], rails: readonly Rail[] = []) =>
  new Agent({ name: "a", model: scriptedModel(script), tools, rails }) as never;

const artifactIn = (request: ScriptedRequest): string =>
  /art_[\w.]*\w/.exec(JSON.stringify(request.prompt.at(-1)))?.[0] ?? "";

const textOf = (content: Uint8Array | undefined) => Buffer.from(content ?? []).toString();

const keys = keyring({ current: "k", keys: { k: new Uint8Array(32).fill(7) } });
const host = (options: TracksideOptions) => new Trackside({ ...options, keyring: keys });

/** Everything there is in the table, whoever may read it. */
async function stored(trackside: Trackside) {
  return trackside.engine.store.read(function* (db) {
    const found = yield db.selectFrom("artifacts").selectAll().orderBy("id").compile();
    return found.rows as { id: string; media_type: string; bytes: number; content: Uint8Array }[];
  });
}

async function outcomes(trackside: Trackside): Promise<string[]> {
  return trackside.engine.store.read(function* (db) {
    const found = yield db.selectFrom("outcomes").select("body").compile();
    return (found.rows as { body: string }[]).map(({ body }) => body);
  });
}

/** A rail that lets nothing through, and one of the same name that does. */
function closed() {
  const reached = Promise.withResolvers<void>();
  const rail = defineRail({ name: "gate", on: ["POST_TOOL_CALL"], timeoutMs: 60_000 }, () => {
    reached.resolve();
    return new Promise<undefined>(() => {});
  });
  return { rail, reached: reached.promise };
}
const passes = defineRail({ name: "gate", on: ["POST_TOOL_CALL"], timeoutMs: 60_000 }, () => undefined);

/** A store that does not take what is appended once something has happened: its process is as good as gone. */
function deafAfter(store: Store, happened: () => boolean, told: () => void): Store {
  return new Proxy(store, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      if (key !== "append") return value.bind(target);
      return (...given: Parameters<Store["append"]>) => {
        if (!happened()) return target.append(...given);
        told();
        return new Promise<boolean>(() => {});
      };
    },
  });
}

/** Makes a database, and answers how each process opens it. */
type Database = () => Promise<() => Store>;

function keepsArtifacts(database: Database): void {
  test("T4 X12 an artifact is kept once, told of, and goes away with its conversation", async () => {
    const store = await database();
    const dump = defineTool({ name: "dump", effect: "none", execute: () => LARGE });
    const agents = [agentOf([{ calls: [{ tool: "dump" }] }, "done"], [dump])];
    const trackside = host({ store: store(), agents });
    const { runId, conversationId, result } = await trackside.start("a", "go");
    await result();
    const [artifact, ...others] = await trackside.artifacts.list({ run: runId });
    expect(others).toEqual([]);
    expect(artifact).toMatchObject({ conversation_id: conversationId, bytes: LARGE.length });
    expect(textOf((await trackside.artifacts.get(artifact?.id ?? "")).content)).toBe(LARGE);
    const told = (await trackside.runs.events(runId)).find(({ type }) => type === "artifact");
    expect(told).toMatchObject({ artifact_id: artifact?.id, bytes: LARGE.length, media_type: "text/plain" });
    await trackside.conversations.delete(conversationId);
    expect(await stored(trackside)).toEqual([]);
    await trackside.close();
  });

  test("X3 T4 a large outcome that rails have not passed is held, seen by nobody, and not made again", async () => {
    const store = await database();
    let ran = 0;
    const dump = defineTool({
      name: "dump",
      execute: () => {
        ran += 1;
        return LARGE;
      },
    });
    const { rail, reached } = closed();
    const first = host({
      store: store(),
      agents: [agentOf([{ calls: [{ tool: "dump" }] }], [dump], [rail])],
    });
    const { runId, result } = await first.start("a", "go");
    result().catch(() => {});
    await reached;
    const [held] = await stored(first);
    expect(held).toMatchObject({ bytes: LARGE.length });
    expect(Math.max(...(await outcomes(first)).map((body) => body.length))).toBeLessThan(8192);
    expect(await first.artifacts.list()).toEqual([]);
    await expect(first.artifacts.get(held?.id ?? "")).rejects.toThrow("There is no artifact");
    await first.close();

    const second = host({ store: store(), agents: [agentOf(["done"], [dump], [passes])] });
    await second.open();
    expect((await second.runs.result(runId)).output).toBe("done");
    expect(ran).toBe(1);
    const [shown, ...others] = await stored(second);
    expect(others).toEqual([]); // what was held is what is shown: written once
    expect(shown).toMatchObject({ id: held?.id, media_type: "text/plain" });
    expect(textOf(shown?.content)).toBe(LARGE);
    await second.close();
  });

  test("X3 T4 what rails change of a held outcome is kept beside it, and the held one stays unseen", async () => {
    const store = await database();
    const dump = defineTool({ name: "dump", execute: () => ({ text: LARGE }) });
    const redact = defineRail({ name: "redact", on: ["POST_TOOL_CALL"] }, (ctx) => {
      const { text } = ctx.inputs.result as { text: string };
      ctx.inputs.result = { text: text.replace("needle", "[gone]") };
    });
    const agents = [agentOf([{ calls: [{ tool: "dump" }] }, "done"], [dump], [redact])];
    const trackside = host({ store: store(), agents });
    await trackside.run("a", "go");
    const [shown, ...others] = await trackside.artifacts.list();
    expect(others).toEqual([]);
    const text = textOf((await trackside.artifacts.get(shown?.id ?? "")).content);
    expect(JSON.parse(text).text).toBe(LARGE.replace("needle", "[gone]"));
    await trackside.close();
  });

  test("X3 T4 files are held, too, and come out as they went in", async () => {
    const store = await database();
    let ran = 0;
    const note = Buffer.from("\ufeffby Ann"); // with a mark that readers of text drop
    const draw = defineTool({
      name: "draw",
      execute: () => {
        ran += 1;
        const picture = new ToolFile({ mediaType: "image/png", data: PICTURE, name: "a.png" });
        return [{ n: 1 }, picture, new ToolFile({ mediaType: "text/plain", data: note })];
      },
    });
    const { rail, reached } = closed();
    const first = host({
      store: store(),
      agents: [agentOf([{ calls: [{ tool: "draw" }] }], [draw], [rail])],
    });
    const { runId, result } = await first.start("a", "go");
    result().catch(() => {});
    await reached;
    await first.close();
    const second = host({ store: store(), agents: [agentOf(["done"], [draw], [passes])] });
    await second.open();
    await second.runs.result(runId);
    expect(ran).toBe(1);
    const shown = await second.artifacts.list();
    expect(shown).toHaveLength(2);
    for (const { id, media_type } of shown) {
      const { content } = await second.artifacts.get(id);
      expect(Buffer.from(content).equals(media_type === "image/png" ? PICTURE : note)).toBe(true);
    }
    const event = (await second.runs.events(runId)).find(({ type }) => type === "tool_result");
    expect(JSON.stringify(event)).toMatch(/n[\s\S]*a\.png[\s\S]*by Ann/);
    await second.close();
  });

  test("X2 T4 a call that is made again writes its artifact again, in the same row", async () => {
    const store = await database();
    let ran = 0;
    const dump = defineTool({
      name: "dump",
      effect: "none",
      execute: () => {
        ran += 1;
        return `${ran} ${LARGE}`;
      },
    });
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    const first = host({
      store: deafAfter(store(), () => ran > 0, resolve),
      agents: [agentOf([{ calls: [{ tool: "dump" }] }], [dump])],
    });
    const { runId, result } = await first.start("a", "go");
    result().catch(() => {});
    await gone;
    const [written] = await stored(first);
    expect(textOf(written?.content).slice(0, 5)).toBe("1 hay");
    await first.close();
    const second = host({ store: store(), agents: [agentOf(["done"], [dump])] });
    await second.open();
    await second.runs.result(runId);
    expect(ran).toBe(2);
    const [row, ...others] = await stored(second);
    expect(others).toEqual([]);
    expect(row?.id).toBe(written?.id);
    expect(textOf(row?.content).slice(0, 5)).toBe("2 hay");
    await second.close();
  });

  test("T4 what belongs to another conversation, or is no artifact, cannot be read", async () => {
    const store = await database();
    const dump = defineTool({ name: "dump", effect: "none", execute: () => LARGE });
    let foreign = "";
    let internal = "";
    const script: Script = [
      { calls: [{ tool: "dump" }] },
      (request) => {
        foreign = artifactIn(request);
        return "kept";
      },
      { calls: [{ tool: "dump" }] },
      () => ({
        calls: [foreign, internal].map((id) => ({ tool: "read_artifact", args: { artifact_id: id } })),
      }),
      "done",
    ];
    const trackside = host({ store: store(), agents: [agentOf(script, [dump])] });
    await trackside.run("a", "x".repeat(20_000)); // the message itself is too large for a row
    internal = (await stored(trackside)).find(({ id }) => !id.includes("."))?.id ?? "";
    expect([foreign, internal]).toEqual([expect.stringMatching("art_"), expect.stringMatching("art_")]);
    const { messages } = await trackside.run("a", "go");
    const answers = messages.flatMap((one) => (one.role === "tool" ? [JSON.stringify(one.output)] : []));
    expect(answers.slice(1)).toEqual(
      [foreign, internal].map((id) => expect.stringContaining(`no artifact \\"${id}`)),
    );
    await expect(trackside.artifacts.get(foreign, { tenant: "other" })).rejects.toThrow("no artifact");
    await trackside.close();
  });

  test("T4 a file is kept with a conversation, and a message has it attached", async () => {
    const store = await database();
    const model = scriptedModel(["seen"]);
    const trackside = host({ store: store(), agents: [new Agent({ name: "a", model }) as never] });
    const { id: conversation } = await trackside.conversations.create({ agent: "a" });
    const file = new ToolFile({ mediaType: "image/png", data: PICTURE });
    const { id, bytes } = await trackside.artifacts.add(conversation, file);
    expect(bytes).toBe(PICTURE.length);
    await expect(trackside.artifacts.add("conv_of_nobody", file)).rejects.toThrow("There is no conversation");
    const source = { kind: "artifact" as const, artifact_id: id };
    await trackside.run("a", [{ type: "file", media_type: "image/png", source }], { conversation });
    expect(JSON.stringify(model.requests[0]?.prompt)).toContain(Buffer.from(PICTURE).toString("base64"));
    await trackside.close();
  });

  test("T4 a conversation from memory brings its artifacts into the store", async () => {
    const store = await database();
    const dump = defineTool({ name: "dump", effect: "none", execute: () => LARGE });
    const model = scriptedModel([{ calls: [{ tool: "dump" }] }, "kept"]);
    const { conversation } = await new Agent({ name: "a", model, tools: [dump] }).run("go");
    const again = Conversation.fromJSON(JSON.parse(JSON.stringify(conversation)));
    const result = again.messages.find((one) => one.role === "tool");
    const id = result?.role === "tool" ? result.metadata.offloaded_artifact_id : null;
    const read = { tool: "read_artifact", args: { artifact_id: id, search: "needle" } };
    const trackside = host({ store: store(), agents: [] });
    const agent = new Agent({ name: "a", model: scriptedModel([{ calls: [read] }, "done"]), tools: [dump] });
    const { messages } = await agent.run("on", { engine: trackside.engine, conversation: again });
    expect(JSON.stringify(messages)).toContain("line 20001, offset 80000:");
    await trackside.close();
  });
}

describe("artifacts in SQLite", () => {
  keepsArtifacts(async () => {
    const path = databaseFile();
    return () => sqlite(path, { sync: "normal" });
  });
});

await serviceSuite("artifacts in PostgreSQL", sharedPostgres, (server) => {
  keepsArtifacts(async () => {
    const target = await server.createDatabase();
    return () => postgres(target);
  });
});
