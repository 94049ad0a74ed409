import { Agent, Conversation, defineTool, ToolFile } from "trackside";
import { type ScriptedRequest, type ScriptedStep, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { serviceSuite, sharedPostgres } from "../../../../scripts/services/index.ts";
import { keyring, postgres, type Store, sqlite, Trackside } from "../../src/index.ts";
import { databaseFile } from "../engine/support/database.ts";

/** Large enough to be kept in several pieces. */
const LARGE = `${"hay\n".repeat(100_000)}needle…\n${"hay\n".repeat(100_000)}`;
const PICTURE = new Uint8Array(20_000).map((_, i) => (i * 31) % 256);

let dumped = 0;
const tools = [
  defineTool({ name: "dump", effect: "none", execute: () => LARGE }),
  defineTool({ name: "another", effect: "none", execute: () => `${++dumped} `.repeat(50_000) }),
  defineTool({
    name: "paint",
    effect: "none",
    execute: () => ["Painted.", new ToolFile({ mediaType: "image/png", data: PICTURE, name: "p.png" })],
  }),
];

const keys = keyring({ current: "k", keys: { k: new Uint8Array(32).fill(7) } });

function host(store: Store, script: readonly ScriptedStep[]) {
  const model = scriptedModel(script);
  const agent = new Agent({ name: "a", model, tools, allowSelfSpawn: true });
  return { trackside: new Trackside({ store, keyring: keys, agents: [agent as never] }), model };
}

const ARTIFACT = /art_[\w.]*\w/g;
const firstIn = (request: ScriptedRequest): string =>
  JSON.stringify(request.prompt).match(ARTIFACT)?.[0] ?? "";
const findNeedle = (request: ScriptedRequest) => ({
  calls: [{ tool: "read_artifact", args: { artifact_id: firstIn(request), search: "needle" } }],
});
const linesOf = (text: string) => text.trimEnd().split("\n");
const artifactsIn = (text: string): { id: string; base64: string }[] =>
  linesOf(text)
    .map((line) => JSON.parse(line))
    .filter(({ kind }) => kind === "artifact");
const textOf = ({ base64 }: { base64: string }) => Buffer.from(base64, "base64").toString();

/** What a conversation has, without the ids and times that a copy has of its own. */
async function contents(trackside: Trackside, conversation: string) {
  const listed = await trackside.artifacts.list({ conversation });
  const read = await Promise.all(listed.map(({ id }) => trackside.artifacts.get(id)));
  return read
    .map(({ media_type, digest, content }) => ({ media_type, digest, content: Buffer.from(content) }))
    .sort((a, b) => (a.digest < b.digest ? -1 : 1));
}

/** A conversation with a large text, a picture that a tool made, and one that its user attached. */
async function made(store: Store, more: readonly ScriptedStep[] = []) {
  const calls = [{ tool: "dump" }, { tool: "paint" }];
  const { trackside, model } = host(store, [{ calls }, findNeedle, "done", "seen", ...more]);
  const { conversationId: id, result } = await trackside.start("a", "go");
  await result();
  const file = new ToolFile({ mediaType: "image/png", data: PICTURE.slice(1) });
  const { id: artifact_id } = await trackside.artifacts.add(id, file);
  const source = { kind: "artifact", artifact_id } as const;
  const look = [{ type: "file", media_type: "image/png", source } as const];
  await trackside.run("a", look, { conversation: id });
  return { trackside, model, id };
}

/** Makes a database of its own. */
type Database = () => Promise<Store>;

function exportsArtifacts(database: Database): void {
  test("T4 a conversation takes its artifacts along, into its own database as into another", async () => {
    const { trackside, id } = await made(await database());
    const lines = await trackside.conversations.export(id);
    expect(artifactsIn(lines)).toHaveLength(3);
    const { trackside: other } = host(await database(), []);
    for (const place of [trackside, other]) {
      const copy = await place.conversations.import(lines);
      expect(await contents(place, copy.id)).toEqual(await contents(trackside, id));
      const again = await place.conversations.export(copy.id);
      expect(linesOf(again)).toHaveLength(linesOf(lines).length);
      // Wherever it speaks of artifacts, it does of its own: in results, arguments and attachments.
      const own = new Set(artifactsIn(again).map((artifact) => artifact.id));
      expect(own.size).toBe(3);
      expect(new Set(again.match(ARTIFACT))).toEqual(own);
      expect([...own].filter((one) => lines.includes(one))).toEqual([]);
    }
    await trackside.close();
    await other.close();
  });

  test("T4 X12 a copy needs nothing of the first: its model reads artifacts and sees attachments", async () => {
    const { trackside, model, id } = await made(await database(), [findNeedle, "done"]);
    const copy = await trackside.conversations.import(await trackside.conversations.export(id));
    await trackside.conversations.delete(id);
    await trackside.run("a", "on", { conversation: copy.id });
    const sent = JSON.stringify(model.requests.at(-1)?.prompt.at(-1));
    expect(sent).toContain("line 100001, offset 400000:");
    expect(JSON.stringify(model.requests.at(-1)?.prompt)).toContain(
      Buffer.from(PICTURE.slice(1)).toString("base64"),
    );
    await trackside.conversations.delete(copy.id);
    expect(await trackside.artifacts.list()).toEqual([]);
    await trackside.close();
  });

  test("T4 S3 X7 a branch takes along what its runs and their sub-agents left, and nothing of other branches", async () => {
    const another = { calls: [{ tool: "another" }] };
    const { trackside } = host(await database(), [
      { calls: [{ tool: "spawn_self", args: { task: "Dump." } }] },
      another,
      "mine is there",
      "one",
      another,
      "two",
      another,
      "three",
    ]);
    dumped = 0;
    const { conversation } = await trackside.run("a", "a");
    const branching = (await trackside.conversations.messages(conversation.id)).at(-1)?.id ?? "";
    await trackside.run("a", "b", { conversation: conversation.id });
    const branch = await trackside.conversations.branch(conversation.id, { at: branching });
    await trackside.run("a", "c", { conversation: branch.id });
    const numbers = async (id: string) =>
      artifactsIn(await trackside.conversations.export(id)).map((one) => textOf(one).split(" ", 1)[0]);
    expect(await numbers(conversation.id)).toEqual(["1", "2"]);
    expect(await numbers(branch.id)).toEqual(["1", "3"]);
    await trackside.close();
  });

  test("T4 exports from before they had artifacts are read as they were", async () => {
    const { trackside, id } = await made(await database());
    const lines = await trackside.conversations.export(id);
    const before = linesOf(lines).filter((line) => !line.startsWith('{"kind":"artifact"'));
    expect(before).toHaveLength(linesOf(lines).length - 3);
    const copy = await trackside.conversations.import(before.join("\n"));
    expect(await trackside.conversations.messages(copy.id)).toEqual(
      await trackside.conversations.messages(id),
    );
    expect(await trackside.artifacts.list({ conversation: copy.id })).toEqual([]);
    await trackside.close();
  });

  test("T4 lines with an artifact that is none are refused by their number, and leave nothing", async () => {
    const { trackside } = host(await database(), []);
    const head = '{"v":1,"kind":"conversation","id":"c","agent":null,"title":null}';
    const artifact = (fields: object) =>
      JSON.stringify({
        kind: "artifact",
        id: "art_x.0",
        media_type: "text/plain",
        base64: "aGk=",
        ...fields,
      });
    const importing = (...lines: string[]) => trackside.conversations.import([head, "", ...lines].join("\n"));
    await expect(importing(artifact({ id: "" }))).rejects.toThrow("Line 3 is no artifact");
    for (const base64 of ["aGk", "aG%=", "a=Gk", "=GkK", "aGk=aGk=", "a===", 7, null])
      await expect(importing(artifact({ base64 }))).rejects.toThrow("Line 3 is no artifact");
    await expect(importing(artifact({}), artifact({}))).rejects.toThrow(
      "Line 4 has the artifact art_x.0 a second time.",
    );
    expect(await trackside.conversations.list()).toEqual([]);
    expect(await trackside.artifacts.list()).toEqual([]);
    const copy = await importing(artifact({}), artifact({ id: "art_x.1", base64: "" }));
    const kept = await contents(trackside, copy.id);
    expect(kept.map(({ content }) => `${content}`).sort()).toEqual(["", "hi"]);
    await trackside.close();
  });

  test("T4 the lines are in the same format as a conversation in memory", async () => {
    const { trackside, id } = await made(await database());
    const [, ...entries] = linesOf(await trackside.conversations.export(id)).map((line) => JSON.parse(line));
    const artifacts = entries
      .filter(({ kind }) => kind === "artifact")
      .map(({ kind: _, ...stored }) => stored);
    const messages = entries.filter(({ kind }) => kind !== "artifact");
    const read = Conversation.fromJSON({ v: 1, id, messages, artifacts });
    expect(read.toJSON().artifacts).toEqual(artifacts);
    const model = scriptedModel([findNeedle, "done"]);
    const result = await new Agent({ name: "a", model, tools }).run("on", { conversation: read });
    expect(JSON.stringify(result.messages)).toContain("line 100001, offset 400000:");
    await trackside.close();
  });
}

describe("exports from SQLite", () => {
  exportsArtifacts(async () => sqlite(databaseFile(), { sync: "normal" }));
});

await serviceSuite("exports from PostgreSQL", sharedPostgres, (server) => {
  exportsArtifacts(async () => postgres(await server.createDatabase()));
});
