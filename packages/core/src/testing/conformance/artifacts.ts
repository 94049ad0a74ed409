import assert from "node:assert/strict";
import { Agent } from "../../agent.ts";
import { defineRail } from "../../rails/rail.ts";
import { skip } from "../../rails/verdicts.ts";
import { defineTool } from "../../tools/define-tool.ts";
import { ToolFile } from "../../tools/tool-file.ts";
import { type ScriptedRequest, scriptedModel } from "../scripted-model.ts";
import { behaviour, collect, rejection } from "./behaviour.ts";

const LINES = Array.from(
  { length: 5000 },
  (_, i) => `line ${i + 1}: ${i === 3210 ? "the Needle — ß" : "hay"}`,
);
const LARGE = LINES.join("\n");

const dump = defineTool({ name: "dump", effect: "none", execute: () => LARGE });

/** What the model was given as the result of its last call. */
function told(request: ScriptedRequest | undefined): string {
  const last = request?.prompt.at(-1);
  const part = last?.role === "tool" ? last.content.at(-1) : undefined;
  if (part?.type !== "tool-result") throw new Error("the last message of the request is no result");
  return String("value" in part.output ? part.output.value : "");
}

function toolsOf(request: ScriptedRequest | undefined): (string | undefined)[] {
  return request?.tools?.map((tool) => tool.name) ?? [];
}

/** The artifact that the last result before this request names. */
function artifactIn(request: ScriptedRequest): string {
  const [id] = /art_[\w.]*\w/.exec(told(request)) ?? [];
  if (id === undefined) throw new Error("the result names no artifact");
  return id;
}

/** Large results and files (T4). */
export const artifacts = [
  behaviour("T4 a large result goes to the artifact store, and read_artifact reads it", async (make) => {
    const model = scriptedModel([
      { calls: [{ tool: "dump" }] },
      (request: ScriptedRequest) => ({
        calls: [
          { tool: "read_artifact", args: { artifact_id: artifactIn(request), search: "needle" } },
          { tool: "read_artifact", args: { artifact_id: artifactIn(request), offset: 6, limit: 20 } },
          { tool: "read_artifact", args: { artifact_id: "art_of.nobody.0" } },
          { tool: "read_artifact", args: { artifact_id: artifactIn(request), offset: 999_999 } },
        ],
      }),
      "done",
    ]);
    const agent = new Agent({ name: "a", model, tools: [dump] });
    const stream = agent.stream("go", { engine: await make() });
    const events = await collect(stream);
    const { messages, output } = await stream.result;
    assert.equal(output, "done");

    const types = events.flatMap(({ type }) => (type === "artifact" || type === "tool_result" ? [type] : []));
    assert.deepEqual(types.slice(0, 2), ["artifact", "tool_result"], "the artifact is told of first");
    const kept = events.find((event) => event.type === "artifact");
    assert.ok(kept?.type === "artifact");
    const { artifact_id: id, bytes, media_type } = kept;
    assert.deepEqual([bytes, media_type], [Buffer.byteLength(LARGE), "text/plain"]);

    const results = messages.flatMap((message) => (message.role === "tool" ? [message] : []));
    const [offloaded, found, page, unknown, beyond] = results.map(({ output: one }) =>
      one.type === "error" ? one.failure.message : String(one.value),
    );
    assert.equal(results[0]?.metadata.offloaded_artifact_id, id);
    assert.deepEqual(
      results.slice(1).map(({ metadata }) => metadata.offloaded_artifact_id),
      [null, null, null, null],
    );
    assert.ok((offloaded ?? "").length < 4000);
    for (const part of [id, String(bytes), "text/plain", "read_artifact", "line 1: hay", "line 5000: hay"])
      assert.ok(offloaded?.includes(part), `the pointer has ${part}`);
    assert.match(
      found ?? "",
      /line 3211, offset \d+:[\s\S]*line 3210: hay\nline 3211: the Needle — ß\nline 3212/,
    );
    assert.match(page ?? "", new RegExp(`\n${LARGE.slice(6, 26)}\n`));
    assert.match(unknown ?? "", /no artifact "art_of.nobody.0" in this conversation/);
    assert.match(beyond ?? "", /offset 999999 is beyond the end/);
    assert.equal(JSON.stringify(messages).includes("line 2500"), false, "the log has only its ends");
  }),

  behaviour("H9 read_artifact comes with the first artifact, at the end of the list", async (make) => {
    const model = scriptedModel([{ calls: [{ tool: "dump" }] }, "one", "two"]);
    const agent = new Agent({ name: "a", model, tools: [dump] });
    const engine = await make();
    const { conversation } = await agent.run("go", { engine });
    await agent.run("on", { engine, conversation });
    const [first, second, third] = model.requests.map(toolsOf);
    assert.deepEqual(
      [first, second, third],
      [["dump"], ["dump", "read_artifact"], ["dump", "read_artifact"]],
    );
    const [, before, after] = model.requests.map(({ prompt }) => JSON.stringify(prompt).slice(0, -1));
    assert.ok(after?.startsWith(before ?? "?"), "request N is a prefix of request N+1 (H5)");
  }),

  behaviour("T4 a later turn reads what an earlier one put away", async (make) => {
    let id = "";
    const model = scriptedModel([
      { calls: [{ tool: "dump" }] },
      (request: ScriptedRequest) => {
        id = artifactIn(request);
        return "kept";
      },
      () => ({ calls: [{ tool: "read_artifact", args: { artifact_id: id, search: "NEEDLE" } }] }),
      "done",
    ]);
    const agent = new Agent({ name: "a", model, tools: [dump] });
    const engine = await make();
    const { conversation } = await agent.run("go", { engine });
    await agent.run("on", { engine, conversation });
    assert.match(told(model.requests[3]), /the Needle — ß/);
  }),

  behaviour("T4 POST_TOOL rails see the whole result, and what they leave is put away", async (make) => {
    let seen = 0;
    const rail = defineRail({ name: "redact", on: ["POST_TOOL_CALL"] }, (ctx) => {
      const { result } = ctx.inputs;
      if (typeof result !== "string") return;
      seen = Math.max(seen, result.length);
      ctx.inputs.result = result.replaceAll("Needle", "[removed]");
    });
    const model = scriptedModel([
      { calls: [{ tool: "dump" }] },
      (request: ScriptedRequest) => ({
        calls: [
          { tool: "read_artifact", args: { artifact_id: artifactIn(request), search: "needle" } },
          { tool: "read_artifact", args: { artifact_id: artifactIn(request), search: "[removed]" } },
        ],
      }),
      "done",
    ]);
    const once = defineTool({ name: "dump", execute: () => LARGE });
    const agent = new Agent({ name: "a", model, tools: [once], rails: [rail] });
    const { messages } = await agent.run("go", { engine: await make() });
    assert.equal(seen, LARGE.length);
    const [, none, some] = messages.flatMap((one) =>
      one.role === "tool" ? [JSON.stringify(one.output)] : [],
    );
    assert.match(none ?? "", /does not occur in it/);
    assert.match(some ?? "", /the \[removed\] — ß/);
  }),

  behaviour("T4 what a rail withholds is put nowhere", async (make) => {
    const rail = defineRail({ name: "closed", on: ["POST_TOOL_CALL"] }, () => skip("not for you"));
    const model = scriptedModel([{ calls: [{ tool: "dump" }] }, "done"]);
    const agent = new Agent({ name: "a", model, tools: [dump], rails: [rail] });
    const stream = agent.stream("go", { engine: await make() });
    const events = await collect(stream);
    assert.equal(
      events.some(({ type }) => type === "artifact"),
      false,
    );
    assert.deepEqual(toolsOf(model.requests[1]), ["dump"]);
  }),

  behaviour("T4 files of a tool go to the artifact store, never into the log", async (make) => {
    const picture = new Uint8Array(3000).map((_, i) => i % 251);
    const draw = defineTool({
      name: "draw",
      execute: () => [
        "Two files:",
        new ToolFile({ mediaType: "image/png", data: picture, name: "plot.png" }),
        new ToolFile({
          mediaType: "text/csv",
          data: new TextEncoder().encode("a,b\n1,2\n"),
          name: "plot.csv",
        }),
        { points: 2 },
      ],
    });
    const rail = defineRail({ name: "looks", on: ["POST_TOOL_CALL"] }, () => undefined);
    const model = scriptedModel([
      { calls: [{ tool: "draw" }] },
      (request: ScriptedRequest) => ({
        calls: [
          { tool: "read_artifact", args: { artifact_id: artifactIn(request) } },
          { tool: "read_artifact", args: { artifact_id: artifactIn(request), offset: 1, limit: 4 } },
        ],
      }),
      "done",
    ]);
    const agent = new Agent({ name: "a", model, tools: [draw], rails: [rail] });
    const stream = agent.stream("go", { engine: await make() });
    const events = await collect(stream);
    const kept = events.flatMap((event) => (event.type === "artifact" ? [event] : []));
    assert.deepEqual(
      kept.map(({ media_type, bytes }) => [media_type, bytes]),
      [
        ["image/png", 3000],
        ["text/csv", 8],
      ],
    );
    const text = told(model.requests[1]);
    assert.match(
      text,
      /^Two files:\n\[The file "plot\.png": 3000 bytes of image\/png, kept as the artifact art_/,
    );
    assert.match(
      text,
      /"plot\.csv": 8 bytes of text\/csv, kept as the artifact art_[\w.]+:\]\na,b\n1,2\n\n\{"points":2\}$/,
    );
    const { messages } = await stream.result;
    const [, about, some] = messages.flatMap((one) =>
      one.role === "tool" ? [JSON.stringify(one.output)] : [],
    );
    assert.match(about ?? "", /3000 bytes of image\/png/);
    assert.match(
      some ?? "",
      new RegExp(`\\\\n${Buffer.from(picture.subarray(1, 5)).toString("base64")}\\\\n`),
    );
  }),

  behaviour("T4 a message may have an artifact of its conversation attached, and no other", async (make) => {
    const picture = new Uint8Array([137, 80, 78, 71, 0, 255]);
    const draw = defineTool({
      name: "draw",
      effect: "none",
      execute: () => new ToolFile({ mediaType: "image/png", data: picture }),
    });
    let id = "";
    const model = scriptedModel([
      { calls: [{ tool: "draw" }] },
      (request: ScriptedRequest) => {
        id = artifactIn(request);
        return "drawn";
      },
      "seen",
      "again",
    ]);
    const agent = new Agent({ name: "a", model, tools: [draw] });
    const engine = await make();
    const { conversation } = await agent.run("go", { engine });
    const attached = (artifact_id: string) => [
      { type: "text" as const, text: "Look:" },
      { type: "file" as const, media_type: "image/png", source: { kind: "artifact" as const, artifact_id } },
    ];
    const { messages } = await agent.run(attached(id), { engine, conversation });
    await agent.run("and?", { engine, conversation });
    for (const request of model.requests.slice(2)) {
      const sent = request.prompt.flatMap((message) => (message.role === "user" ? message.content : []));
      const file = sent.find((part) => part.type === "file");
      const data = file?.type === "file" && file.data.type === "data" ? file.data.data : undefined;
      assert.equal(data, Buffer.from(picture).toString("base64"));
    }
    assert.ok(JSON.stringify(messages).includes(id), "the log has the reference");
    const refused = await rejection(agent.run(attached("art_of.nobody.0"), { engine, conversation }));
    assert.match(refused.message, /input\[1\]\.source\.artifact_id.*an artifact of the conversation/s);
    const elsewhere = await rejection(agent.run(attached(id), { engine }));
    assert.equal(elsewhere.code, "config_invalid");
  }),

  behaviour("T4 X6 messages to a run under way may have artifacts attached, notes too", async (make) => {
    const picture = new Uint8Array([137, 80, 78, 71]);
    const draw = defineTool({
      name: "draw",
      effect: "none",
      execute: () => new ToolFile({ mediaType: "image/png", data: picture }),
    });
    let drawn = (_id: string) => {};
    const known = new Promise<string>((resolve) => {
      drawn = resolve;
    });
    let over = false;
    const tick = defineTool({
      name: "tick",
      effect: "none",
      execute: () => new Promise<string>((resolve) => setTimeout(resolve, 5, "tock")),
    });
    const step = (request: ScriptedRequest) => {
      if (request.prompt.length === 1) return { calls: [{ tool: "draw" }] };
      if (request.prompt.length === 3) drawn(artifactIn(request));
      return over ? "done" : { calls: [{ tool: "tick" }] };
    };
    const model = scriptedModel([step], { loop: true });
    const agent = new Agent({ name: "a", model, tools: [draw, tick], maxSteps: 1000 });
    const stream = agent.stream("go", { engine: await make() });
    const ended = collect(stream);
    const attached = (artifact_id: string) => [
      { type: "file" as const, media_type: "image/png", source: { kind: "artifact" as const, artifact_id } },
    ];
    const refused = await rejection(stream.steer(attached("art_of.nobody.0")));
    assert.match(refused.message, /an artifact of the conversation/);
    const early = ended.then(() => Promise.reject(new Error("the run ended before anything was drawn")));
    const id = await Promise.race([known, early]);
    early.catch(() => {}); // from here on it may end
    assert.equal((await stream.inject(attached(id))).state, "admitted");
    assert.equal((await stream.steer(attached(id))).state, "admitted");
    over = true;
    await ended;
    const files = model.requests.map(({ prompt }) =>
      prompt.flatMap((message) =>
        message.role === "user"
          ? message.content.flatMap((part) =>
              part.type === "file" && part.data.type === "data" ? [part.data.data] : [],
            )
          : [],
      ),
    );
    const data = Buffer.from(picture).toString("base64");
    assert.deepEqual(
      files.find((sent) => sent.length > 0),
      [data],
      "the note has it",
    );
    assert.deepEqual(files.at(-1), [data], "the note is gone, the message stays");
  }),

  behaviour("T4 P3 the planner reads the artifacts that its conversation has", async (make) => {
    let id = "";
    const model = scriptedModel([
      { calls: [{ tool: "dump" }] },
      (request: ScriptedRequest) => {
        id = artifactIn(request);
        return "kept";
      },
      () => ({ calls: [{ tool: "read_artifact", args: { artifact_id: id, search: "needle" } }] }),
      "1. Say what it is.",
      "done",
    ]);
    const tools = [dump];
    const engine = await make();
    const { conversation } = await new Agent({ name: "a", model, tools }).run("go", { engine });
    const planning = new Agent({ name: "a", model, tools, planningEnabled: true, allowSelfSpawn: true });
    await planning.run("on", { engine, conversation });
    assert.deepEqual(toolsOf(model.requests[2]), ["dump", "read_artifact"]);
    assert.match(told(model.requests[3]), /the Needle/);
  }),

  behaviour(
    "T4 S3 a sub-agent reads the artifacts of its conversation, and leaves its own there",
    async (make) => {
      let id = "";
      const model = scriptedModel([
        { calls: [{ tool: "dump" }] },
        (request: ScriptedRequest) => {
          id = artifactIn(request);
          return { calls: [{ tool: "spawn_self", args: { task: `Look into ${id}.` } }] };
        },
        () => ({
          calls: [{ tool: "read_artifact", args: { artifact_id: id, search: "needle" } }, { tool: "dump" }],
        }),
        (request: ScriptedRequest) => `It is in ${id}; mine is ${artifactIn(request)}.`,
        (request: ScriptedRequest) => {
          const [own = ""] =
            /art_[\w.]*\w/.exec(JSON.stringify(request.prompt.at(-1)).split("mine is ")[1] ?? "") ?? [];
          return { calls: [{ tool: "read_artifact", args: { artifact_id: own, limit: 11 } }] };
        },
        "done",
      ]);
      const agent = new Agent({ name: "a", model, tools: [dump], allowSelfSpawn: true });
      await agent.run("go", { engine: await make() });
      assert.deepEqual(toolsOf(model.requests[2]).slice(-1), ["read_artifact"]);
      const found = model.requests[3]?.prompt.findLast((message) => message.role === "tool");
      assert.match(JSON.stringify(found), /the Needle/);
      assert.match(told(model.requests[5]), /line 1: hay/);
    },
  ),

  behaviour("T4 S3 who is told of an artifact by its sub-agent alone can read it", async (make) => {
    const model = scriptedModel([
      { calls: [{ tool: "spawn_self", args: { task: "Dump." } }] },
      { calls: [{ tool: "dump" }] },
      (request: ScriptedRequest) => `It is here:\n${artifactIn(request)}`,
      (request: ScriptedRequest) => {
        const [id] = /art_[\w.]*\w/.exec(JSON.stringify(request.prompt.at(-1))) ?? [];
        return { calls: [{ tool: "read_artifact", args: { artifact_id: id, search: "needle" } }] };
      },
      "done",
      { calls: [{ tool: "spawn_self", args: { task: "Nothing." } }] },
      "nothing to tell",
      "done",
    ]);
    const agent = new Agent({ name: "a", model, tools: [dump], allowSelfSpawn: true });
    const engine = await make();
    await agent.run("go", { engine });
    assert.ok(!toolsOf(model.requests[0]).includes("read_artifact"));
    assert.deepEqual(toolsOf(model.requests[3]).slice(-1), ["read_artifact"]);
    assert.match(told(model.requests[4]), /the Needle/);
    await agent.run("go", { engine });
    assert.ok(!toolsOf(model.requests[7]).includes("read_artifact"), "nobody told of one");
  }),
];
