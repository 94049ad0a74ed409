import { Agent, defineTool, type JsonObject, localEngine, TracksideError } from "trackside";
import { type ScriptedRequest, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { collect } from "../support/collect.ts";
import { OWN_EXAMPLES } from "../support/definitions.ts";

const MINIMAL = { name: "clerk", model: "openai:gpt-4o" };
const ping = defineTool({
  name: "ping",
  execute: (_, { progress }) => {
    progress({ progress: 1 });
    return "pong";
  },
});

/** What one run of a definition shows to whoever looks: requests, events and the result. */
async function runOf(fields: JsonObject) {
  const model = scriptedModel([{ calls: [{ tool: "ping" }] }, '{"done":true}'], { loop: true });
  const spare = scriptedModel(['{"done":true}'], { modelId: "spare" });
  const engine = localEngine({ models: { "openai:gpt-4o": model, "openai:spare": spare } });
  const agent = Agent.fromJSON({ ...MINIMAL, ...fields }, { tools: [ping] });
  const stream = agent.stream("Go", { engine });
  const events = await collect(stream);
  return { requests: model.requests, spare: spare.requests, events, result: await stream.result, stream };
}

type Seen = Awaited<ReturnType<typeof runOf>>;
const first = (seen: Seen): ScriptedRequest["options"] | undefined => seen.requests[0]?.options;

/** It does something now: what one sees of it with this value, and does not see without. */
interface Acts {
  readonly value: JsonObject[string];
  readonly shows: (seen: Seen) => boolean;
}

const ACTS: Readonly<Record<string, Acts>> = {
  instructions: { value: "Be kind.", shows: (seen) => first(seen)?.prompt[0]?.role === "system" },
  max_steps: { value: 1, shows: (seen) => seen.result.stopReason === "max_steps" },
  temperature: { value: 0.3, shows: (seen) => first(seen)?.temperature === 0.3 },
  max_tokens: { value: 9, shows: (seen) => first(seen)?.maxOutputTokens === 9 },
  emit_mcp_progress: {
    value: false,
    shows: (seen) => !seen.events.some((event) => event.type === "mcp_progress"),
  },
  injected_tool_args: {
    value: { origin: "who asked" },
    shows: (seen) => JSON.stringify(first(seen)?.tools).includes("who asked"),
  },
  planning_enabled: { value: true, shows: (seen) => seen.events.some((event) => event.type === "plan") },
  budget_awareness: { value: "limit:0", shows: (seen) => seen.result.stopReason === "budget" },
  allow_parallel_subagents: {
    value: true,
    shows: (seen) => JSON.stringify(first(seen)?.tools).includes('"spawn_parallel"'),
  },
  allow_self_spawn: {
    value: true,
    shows: (seen) => JSON.stringify(first(seen)?.tools).includes('"spawn_self"'),
  },
  tools: { value: [], shows: (seen) => first(seen)?.tools === undefined },
  output_schema: {
    value: { type: "object" },
    shows: (seen) => first(seen)?.responseFormat?.type === "json" && typeof seen.result.output === "object",
  },
};

/** Needs something that is not there: refused, and what it takes is said. */
const REFUSED: Readonly<Record<string, { value: JsonObject[string]; says: RegExp }>> = {
  handoffs: { value: ["billing"], says: /names what is not registered here: the agent "billing"/ },
  mcp_servers: {
    value: [{ name: "files", command: "files-server" }],
    says: /has mcp_servers, and nothing here speaks to them: pass `toolServers/,
  },
};

/** Only says how something behaves that is switched off, or refused, or says what happens anyway. */
const IDLE: Readonly<Record<string, { value: JsonObject[string]; because: string }>> = {
  planning_model: { value: "openai:gpt-4o-mini", because: "planning_enabled is false" },
  planning_instructions: { value: "Plan.", because: "planning_enabled is false" },
  max_parallel_subagents: { value: 7, because: "allow_parallel_subagents is false" },
  hitl_timeout_seconds: { value: 5, because: "hitl_tools is empty" },
  injection_reserve_tokens: { value: 0, because: "there are no pre-hooks" },
  offload_above_bytes: { value: 4, because: "no result is that large" },
  context_window_tokens: { value: 1000, because: "budget_awareness is null and the conversation is short" },
  max_regenerations: { value: 0, because: "there are no post-hooks" },
  audit_transient: { value: true, because: "there are no pre-hooks" },
  stream_release: { value: "live", because: "nothing holds text back" },
};

/** Tested where models are (A6, X8), and where guards are (R, H, L). */
const ELSEWHERE = ["name", "model", "fallback_models", "rails", "hooks", "hitl_tools"];

test("A4 every field acts, is refused or is idle for a reason; none is accepted and then ignored", () => {
  const judged = [...Object.keys(ACTS), ...Object.keys(REFUSED), ...Object.keys(IDLE), ...ELSEWHERE];

  expect([...new Set(judged)].sort()).toEqual(Object.keys(Agent.fromJSON(MINIMAL).definition).sort());
  expect(Object.keys(OWN_EXAMPLES).filter((field) => !judged.includes(field))).toEqual([]);
});

describe("A4 what a field says is done", () => {
  test.each(Object.entries(ACTS))("A4 %s acts", async (field, { value, shows }) => {
    expect(shows(await runOf({}))).toBe(false);
    expect(shows(await runOf({ [field]: value }))).toBe(true);
  });

  const idle = Object.entries(IDLE).map(([field, { value, because }]) => [field, because, value] as const);
  test.each(idle)("A4 %s is accepted and changes nothing: %s", async (field, _because, value) => {
    const told = ({ requests, events }: Seen) => [requests, events.map(({ type }) => type)];

    expect(told(await runOf({ [field]: value }))).toEqual(told(await runOf({})));
  });
});

describe("A4 what cannot be done here refuses the run", () => {
  const refusing = (fields: object) => Agent.fromJSON({ ...MINIMAL, ...fields }, { tools: [ping] });

  test.each(Object.entries(REFUSED))(
    "A4 a run of an agent with %s is refused, and what it takes is said",
    async (field, { value, says }) => {
      const running = refusing({ [field]: value, model: "openai:gpt-4o" }).run("Go");

      await expect(running).rejects.toBeInstanceOf(TracksideError);
      await expect(running).rejects.toMatchObject({ code: "not_available" });
      await expect(running).rejects.toThrow(says);
    },
  );

  test("A4 the stream of a refused run is one terminal status, and its result rejects", async () => {
    const stream = refusing({ handoffs: ["billing"] }).stream("Go");
    const events = await collect(stream);

    expect(events).toEqual([
      {
        type: "status",
        status: "error",
        run_id: stream.runId,
        turn_ref: stream.turnRef,
        seq: 1,
        at: expect.any(Number),
        path: [],
        failure: { code: "not_available", message: expect.stringContaining('"billing"') },
      },
    ]);
    await expect(stream.result).rejects.toThrow('"billing"');
    expect(() => stream.cancel()).not.toThrow();
  });

  test("A4 a refused run asks nothing of the model and leaves the conversation as it was", async () => {
    const model = scriptedModel(["Hello."]);
    const agent = new Agent({ name: "clerk", model });
    const { conversation } = await agent.run("Hi");
    const refused = new Agent({ name: "clerk", model, handoffs: ["billing"] });

    await expect(refused.run("Go", { conversation })).rejects.toThrow('"billing"');
    expect(conversation.messages).toHaveLength(2);
    expect(model.requests).toHaveLength(1);
  });

  test("T8 a client tool is refused where nobody can supply its result, by its name", async () => {
    const pick = defineTool({ name: "pick_file", executor: "client" });
    const agent = new Agent({ name: "clerk", model: scriptedModel([]), tools: [ping, pick] });

    await expect(agent.run("Go")).rejects.toThrow("client tools (pick_file), but nobody can decide");
    await expect(agent.run("Go")).rejects.toMatchObject({ code: "not_available" });
  });

  test("A7 a rail or hook that nothing is registered under is refused, by its name", async () => {
    const agent = refusing({ rails: [{ use: "pii" }], hooks: { post: [{ use: "tone" }] } });
    await expect(agent.run("Go")).rejects.toThrow('not registered here: rail "pii", hook "tone"');
  });
});
