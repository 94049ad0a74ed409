import {
  Agent,
  Conversation,
  defineRail,
  defineTool,
  localEngine,
  skip,
  type Tool,
  ToolFile,
  type ToolMessage,
} from "trackside";
import { type ScriptedCall, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { collect } from "../support/collect.ts";

type Extra = Partial<ConstructorParameters<typeof Agent>[0]>;

/** One turn in which the model makes these calls, and what became of them. */
async function turn(tools: readonly Tool[], calls: readonly ScriptedCall[], extra: Extra = {}) {
  const model = scriptedModel([{ calls: [...calls] }, "done"]);
  const agent = new Agent({ name: "clerk", model, tools, ...extra });
  const stream = agent.stream("Go", { engine: localEngine() });
  const events = await collect(stream);
  const { messages, conversation } = await stream.result;
  const results = messages.filter((message): message is ToolMessage => message.role === "tool");
  const texts = results.map(({ output }) =>
    output.type === "error" ? output.failure.message : String(output.value),
  );
  const artifacts = events.flatMap((event) => (event.type === "artifact" ? [event] : []));
  return { model, events, results, texts, artifacts, conversation };
}

const gives = (value: unknown) => defineTool({ name: "give", execute: () => value as never });
const CALL: readonly ScriptedCall[] = [{ tool: "give" }];

describe("T4 the threshold", () => {
  const at = (value: string, above: number) => turn([gives(value)], CALL, { offloadAboveBytes: above });

  test("T4 counts bytes, and what is just as large stays", async () => {
    expect((await at("é".repeat(50), 100)).artifacts).toEqual([]);
    const { artifacts, results } = await at(`${"é".repeat(50)}x`, 100);
    expect(artifacts).toMatchObject([{ bytes: 101, media_type: "text/plain" }]);
    expect(results[0]?.metadata.offloaded_artifact_id).toBe(artifacts[0]?.artifact_id);
  });

  test("T4 JSON counts as it is written", async () => {
    const value = { a: ["x".repeat(20)] };
    const { length } = JSON.stringify(value);
    expect((await turn([gives(value)], CALL, { offloadAboveBytes: length })).results[0]?.output).toEqual({
      type: "json",
      value,
    });
    expect((await turn([gives(value)], CALL, { offloadAboveBytes: length - 1 })).artifacts).toMatchObject([
      { bytes: length, media_type: "application/json" },
    ]);
  });

  test("T4 zero puts everything away; what is short is still shown whole", async () => {
    const { texts, artifacts } = await at("ok", 0);
    expect(artifacts).toHaveLength(1);
    expect(texts[0]).toBe(
      `[The result is kept as the artifact ${artifacts[0]?.artifact_id} (2 bytes of text/plain). This is all of it:]\nok`,
    );
  });

  test("T4 the id follows from the call", async () => {
    const { artifacts, results } = await at("long enough", 5);
    expect(artifacts[0]?.artifact_id).toBe(`${results[0]?.call_id}.0`.replace("run_", "art_"));
    expect(artifacts[0]?.call_id).toBe(results[0]?.call_id);
  });
});

describe("T4 what the model reads instead", () => {
  test("T4 the beginning and the end, in whole characters, and how to go on", async () => {
    const whole = "😀é漢".repeat(20_000);
    const { texts, artifacts } = await turn([gives(whole)], CALL);
    const [text = ""] = texts;
    expect(text.isWellFormed()).toBe(true);
    expect(text).not.toContain("\ufffd");
    expect(text.length).toBeLessThan(3_600);
    const offset = Number(/"offset":(\d+)/.exec(text)?.[1]);
    const head = text.split("\n")[1] ?? "";
    expect(whole.startsWith(head)).toBe(true);
    expect(offset).toBe(head.length);
    const left = Number(/\[(\d+) characters left out here/.exec(text)?.[1]);
    const tail = text.split("\n").at(-1) ?? "";
    expect(whole.endsWith(tail)).toBe(true);
    expect(head.length + left + tail.length).toBe(whole.length);
    expect(text).toContain(`read_artifact {"artifact_id":"${artifacts[0]?.artifact_id}","offset":${offset}}`);
  });

  test("T4 JSON in lines", async () => {
    const rows = Array.from({ length: 2_000 }, (_, i) => ({
      id: i,
      name: `number ${i} in the list of all`,
      tags: ["a", "b"],
    }));
    const { texts } = await turn([gives({ rows })], CALL);
    const lines = texts[0]?.split("\n") ?? [];
    expect(Math.max(...lines.slice(1).map((line) => line.length))).toBeLessThan(200);
    expect(lines[1]).toContain('{"rows":[{"id":0,');
  });

  test("T4 metadata and the pointer are in the event, the content is in neither log nor event", async () => {
    const { events, results } = await turn([gives(`${"x".repeat(40_000)}SECRET${"x".repeat(40_000)}`)], CALL);
    const id = results[0]?.metadata.offloaded_artifact_id;
    expect(events.find(({ type }) => type === "tool_result")).toMatchObject({
      success: true,
      metadata: { offloaded_artifact_id: id },
    });
    expect(JSON.stringify([events, results])).not.toContain("SECRET");
  });

  test("T4 an error is cut short, in its middle, and put nowhere", async () => {
    const fails = defineTool({
      name: "give",
      execute: () => {
        throw new Error(`It broke: ${"😀".repeat(40_000)} at line 7`);
      },
    });
    const { texts, artifacts, results } = await turn([fails], CALL, { offloadAboveBytes: 0 });
    expect(artifacts).toEqual([]);
    expect(results[0]?.metadata).toMatchObject({ status: "error", offloaded_artifact_id: null });
    expect(texts[0]).toMatch(/^It broke: [\s\S]*characters left out[\s\S]* at line 7$/);
    expect(texts[0]?.length).toBeLessThan(2_100);
    expect(texts[0]?.isWellFormed()).toBe(true);
  });

  test("T4 what a rail puts in the place of a call is put away, too", async () => {
    const rail = defineRail({ name: "instead", on: ["PRE_TOOL_CALL"] }, () =>
      skip("no", { replacement: "y".repeat(50_000) }),
    );
    const { artifacts, results } = await turn([gives("x")], CALL, { rails: [rail] });
    expect(artifacts).toMatchObject([{ bytes: 50_000 }]);
    expect(results[0]?.metadata).toMatchObject({
      skipped_by: "instead",
      offloaded_artifact_id: artifacts[0]?.artifact_id,
    });
  });

  test("T4 64 MB are a result, and read_artifact finds its way in them", async () => {
    const model = scriptedModel([
      { calls: [...CALL] },
      (request) => {
        const [id = ""] = /art_[\w.]*\w/.exec(JSON.stringify(request.prompt)) ?? [];
        return { calls: [{ tool: "read_artifact", args: { artifact_id: id, search: "needle" } }] };
      },
      "done",
    ]);
    const agent = new Agent({ name: "clerk", model, tools: [gives(`${"x".repeat(63_000_000)}needle`)] });
    const { messages } = await agent.run("Go");
    expect(JSON.stringify(messages.at(-2))).toContain("line 1, offset 63000000:");
  });
});

describe("T4 files", () => {
  const file = (text: string, mediaType = "text/plain", name?: string) =>
    new ToolFile({ mediaType, data: new TextEncoder().encode(text), ...(name ? { name } : {}) });

  test("T4 a short text is shown, a long one and anything else only named", async () => {
    const { texts, artifacts } = await turn(
      [gives([file("short", "text/plain", "a.txt"), file("l".repeat(9_000)), file("z", "application/zip")])],
      CALL,
    );
    expect(artifacts.map(({ bytes }) => bytes)).toEqual([5, 9_000, 1]);
    const [a, b, c] = artifacts.map(({ artifact_id }) => artifact_id);
    expect(texts[0]?.split("\n")).toEqual([
      `[The file "a.txt": 5 bytes of text/plain, kept as the artifact ${a}:]`,
      "short",
      `[A file: 9000 bytes of text/plain, kept as the artifact ${b}. Read it with read_artifact {"artifact_id":"${b}"}, or give "search" to find a text in it.]`,
      `[A file: 1 bytes of application/zip, kept as the artifact ${c}. read_artifact tells about it.]`,
    ]);
  });

  test("T4 what rails make of a file's text is what is kept; a file they take out is not", async () => {
    const rail = defineRail({ name: "redact", on: ["POST_TOOL_CALL"] }, (ctx) => {
      const [first] = ctx.inputs.result as { file: { text: string } }[];
      if (first === undefined) throw new Error("nothing there");
      ctx.inputs.result = [{ file: { ...first.file, text: first.file.text.replace("Ann", "[name]") } }];
    });
    const { texts, artifacts } = await turn([gives([file("by Ann"), file("secret")])], CALL, {
      rails: [rail],
    });
    expect(artifacts).toMatchObject([{ bytes: 9 }]);
    expect(texts[0]).toContain("by [name]");
    expect(texts[0]).not.toContain("secret");
  });

  test("T4 a rail may put something else in the place of files, which then are kept nowhere", async () => {
    const rail = defineRail({ name: "no files", on: ["POST_TOOL_CALL"] }, (ctx) => {
      ctx.inputs.result = "files are not allowed";
    });
    const { texts, artifacts } = await turn([gives(file("x"))], CALL, { rails: [rail] });
    expect([texts, artifacts]).toEqual([["files are not allowed"], []]);
  });

  test("T4 many texts beside files are put away as a whole", async () => {
    const { artifacts, results } = await turn([gives([file("x", "image/png"), "t".repeat(50_000)])], CALL);
    expect(artifacts.map(({ media_type }) => media_type)).toEqual(["text/plain", "image/png"]);
    expect(results[0]?.metadata.offloaded_artifact_id).toBe(artifacts[0]?.artifact_id);
  });
});

describe("T4 who can read", () => {
  const large = gives("x".repeat(40_000));

  test("T4 an agent with a tool of that name keeps its own, and is not told of ours", async () => {
    const own = defineTool({ name: "read_artifact", execute: () => "mine" });
    const { model, texts } = await turn([large, own], CALL);
    expect(model.requests[1]?.tools?.map(({ name }) => name)).toEqual(["give", "read_artifact"]);
    expect(texts[0]).not.toContain("Read on with");
  });

  test("T4 an agent without tools is left without", async () => {
    const { conversation } = await turn([large], CALL);
    const model = scriptedModel(["fine"]);
    await new Agent({ name: "plain", model }).run("And?", { conversation });
    expect(model.requests[0]?.tools ?? []).toEqual([]);
  });

  test("T4 hitl_tools may name it", async () => {
    const model = scriptedModel([
      { calls: [...CALL] },
      { calls: [{ tool: "read_artifact", args: { artifact_id: "art_x.0" } }] },
      "done",
    ]);
    const agent = new Agent({ name: "clerk", model, tools: [large], hitlTools: ["read_artifact"] });
    const asked: unknown[] = [];
    await agent.run("Go", {
      approve: ({ tool }) => {
        asked.push(tool);
        return { choice: "reject" };
      },
    });
    expect(asked).toEqual(["read_artifact"]);
  });

  test("T4 a conversation in JSON takes its artifacts along", async () => {
    const picture = new Uint8Array([0, 255, 254, 0]);
    const { conversation, artifacts } = await turn(
      [gives([new ToolFile({ mediaType: "image/png", data: picture })])],
      CALL,
    );
    const again = Conversation.fromJSON(JSON.parse(JSON.stringify(conversation)));
    const id = artifacts[0]?.artifact_id;
    const model = scriptedModel([
      { calls: [{ tool: "read_artifact", args: { artifact_id: id, limit: 9 } }] },
      "done",
    ]);
    const { messages } = await new Agent({ name: "clerk", model, tools: [large] }).run("On", {
      conversation: again,
    });
    expect(JSON.stringify(messages)).toContain(Buffer.from(picture).toString("base64"));
  });

  test("T4 another conversation cannot read it", async () => {
    const { artifacts } = await turn([large], CALL);
    const model = scriptedModel([
      { calls: [...CALL] },
      { calls: [{ tool: "read_artifact", args: { artifact_id: artifacts[0]?.artifact_id } }] },
      "done",
    ]);
    const { messages } = await new Agent({ name: "clerk", model, tools: [large] }).run("On");
    expect(JSON.stringify(messages.at(-2))).toContain("in this conversation");
  });
});
