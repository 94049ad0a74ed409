import OpenAI from "openai";
import { Agent, defineTool } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { openAiRoutes } from "../../src/protocols/openai/routes.ts";
import { stage } from "./stage.ts";

const clientFor = (url: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey: "tsk_test", maxRetries: 0 });
const weather = defineTool({ name: "weather", input: z.object({}), effect: "none", execute: () => "rain" });
const locate = defineTool({ name: "locate", input: z.object({}), executor: "client" });

const parameters = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
const launch = { name: "launch", description: "Launches", parameters };
const chatTools = [{ type: "function" as const, function: launch }];
const responseTools = [{ type: "function" as const, ...launch, strict: null }];
const twoCalls = {
  calls: [
    { tool: "launch", args: { n: 1 } },
    { tool: "launch", args: { n: 2 } },
  ],
};
const asking = { role: "user" as const, content: "Go" };

describe("T8 tools that a request brings along", () => {
  test("T8 H9 chat completions: two calls at once, one result and then the other", async () => {
    const model = scriptedModel([twoCalls, "Launched."]);
    const agent = new Agent({ name: "clerk", model, tools: [weather] });
    const { url, trackside } = await stage([agent], openAiRoutes());
    const ask = (messages: OpenAI.ChatCompletionMessageParam[]) =>
      clientFor(url).chat.completions.create({ model: "clerk", messages, tools: chatTools });
    const [first] = (await ask([asking])).choices;
    const calls = first?.message.tool_calls ?? [];
    expect(first?.finish_reason).toBe("tool_calls");
    expect(calls).toMatchObject([
      { type: "function", function: { name: "launch", arguments: '{"n":1}' } },
      { type: "function", function: { name: "launch", arguments: '{"n":2}' } },
    ]);
    expect(model.requests[0]?.tools?.slice(0, 2)).toMatchObject([
      { name: "weather" },
      { name: "launch", description: "Launches", inputSchema: parameters },
    ]);
    const said = { role: "assistant" as const, content: null, tool_calls: calls };
    const result = (i: number) => ({
      role: "tool" as const,
      tool_call_id: calls[i]?.id ?? "",
      content: `up ${i}`,
    });
    const [half] = (await ask([asking, said, result(0)])).choices;
    expect(half?.message.tool_calls).toMatchObject([{ id: calls[1]?.id }]);
    const [last] = (await ask([asking, said, result(0), result(1)])).choices;
    expect(last?.message.content).toBe("Launched.");
    expect(JSON.stringify(model.requests[1]?.prompt)).toMatch(/up 0.*up 1/);
    expect(await trackside.runs.list({ tenant: "acme" })).toHaveLength(1);
  });

  test("T8 responses: function calls and their outputs, streamed and not", async () => {
    const agent = new Agent({
      name: "clerk",
      model: scriptedModel([twoCalls, "Launched."]),
      tools: [weather],
    });
    const { url } = await stage([agent], openAiRoutes());
    const client = clientFor(url);
    const first = await client.responses.create({ model: "clerk", input: "Go", tools: responseTools });
    const calls = first.output.flatMap((item) => (item.type === "function_call" ? [item] : []));
    expect(calls.map((call) => [call.name, call.arguments])).toEqual([
      ["launch", '{"n":1}'],
      ["launch", '{"n":2}'],
    ]);
    const input = calls.map(({ call_id }) => ({
      type: "function_call_output" as const,
      call_id,
      output: '{"ok":true}',
    }));
    // Without its tools: the run keeps those it began with, and they are still no calls of the server.
    const stream = client.responses.stream({ model: "clerk", previous_response_id: first.id, input });
    const last = await stream.finalResponse();
    expect(last.output_text).toBe("Launched.");
    expect(last.output.map(({ type }) => type)).toEqual(["message"]);
  });

  test("T8 X2 results that come after a restart go on with the run", async () => {
    const before = new Agent({ name: "clerk", model: scriptedModel([twoCalls]), tools: [weather] });
    const first = await stage([before], openAiRoutes());
    const body = { model: "clerk", tools: chatTools };
    const asked = await clientFor(first.url).chat.completions.create({ ...body, messages: [asking] });
    const calls = asked.choices[0]?.message.tool_calls ?? [];
    await first.close();

    const model = scriptedModel(["Launched."]);
    const after = new Agent({ name: "clerk", model, tools: [weather] });
    const second = await stage([after], openAiRoutes(), first.home);
    const results = calls.map(({ id }) => ({ role: "tool" as const, tool_call_id: id, content: "up" }));
    const said = { role: "assistant" as const, content: null, tool_calls: calls };
    const answered = await clientFor(second.url).chat.completions.create({
      ...body,
      messages: [asking, said, ...results],
    });
    expect(answered.choices[0]?.message.content).toBe("Launched.");
    expect(model.requests[0]?.tools?.some(({ name }) => name === "launch")).toBe(true);
  });

  test("T8 ids that are forged, of nobody, or another tenant's are refused; the call waits on", async () => {
    const agent = new Agent({ name: "clerk", model: scriptedModel([twoCalls, "Launched."]) });
    const { url, trackside, as } = await stage([agent], openAiRoutes());
    const ask = (messages: OpenAI.ChatCompletionMessageParam[]) =>
      clientFor(url).chat.completions.create({ model: "clerk", messages, tools: chatTools });
    const calls = (await ask([asking])).choices[0]?.message.tool_calls ?? [];
    const said = { role: "assistant" as const, content: null, tool_calls: calls };
    const answer = (id: string) => ask([asking, said, { role: "tool", tool_call_id: id, content: "up" }]);
    const id = calls[0]?.id ?? "";
    await expect(answer(`${id}9`)).rejects.toMatchObject({ status: 400, code: "call_unknown" });
    await expect(answer("run_nobody.main.1.0")).rejects.toMatchObject({ status: 404 });
    as("admin", "u2", "other");
    await expect(answer(id)).rejects.toMatchObject({ status: 404 });
    as("viewer");
    await expect(answer(id)).rejects.toMatchObject({ status: 403 });
    as("admin");
    expect(await trackside.approvals.list({ tenant: "acme" })).toHaveLength(2);
  });

  test.each([
    ["a tool of the agent", { name: "weather" }, /tools\[0\]\.name.*"clerk"/],
    ["a kept name", { name: "mcp__a__b" }, /mcp__/],
    ["no name at all", { name: "a b" }, /letters, digits/],
    ["a schema that leads elsewhere", { name: "x", parameters: { $ref: "http://example.com/" } }, /\$ref/],
    ["a schema of no object", { name: "x", parameters: { type: "string" } }, /schema of an object/],
  ])("T8 refused by name: %s", async (_title, tool, problem) => {
    const agent = new Agent({ name: "clerk", model: scriptedModel([]), tools: [weather] });
    const { url, trackside } = await stage([agent], openAiRoutes());
    const tools = [{ type: "function" as const, function: tool }];
    const asked = clientFor(url).chat.completions.create({ model: "clerk", messages: [asking], tools });
    await expect(asked).rejects.toMatchObject({ status: 400, code: "tool_invalid", param: "tools" });
    await expect(asked).rejects.toThrow(problem);
    expect(await trackside.runs.list({ tenant: "acme" })).toEqual([]);
  });

  test("tool_choice is done where it can be, and refused by name where not", async () => {
    const model = scriptedModel(["Hi.", "Ho."]);
    const agents = [
      new Agent({ name: "clerk", model, tools: [weather] }),
      new Agent({ name: "guide", model: scriptedModel([]), tools: [locate] }),
    ];
    const { url } = await stage(agents, openAiRoutes());
    const ask = (tool_choice: OpenAI.ChatCompletionToolChoiceOption, name = "clerk") =>
      clientFor(url).chat.completions.create({
        model: name,
        messages: [asking],
        tools: chatTools,
        tool_choice,
      });
    await ask("auto");
    await ask("none");
    const offered = model.requests.map(({ tools }) => tools?.some(({ name }) => name === "launch"));
    expect(offered).toEqual([true, false]);
    const refusal = { status: 400, code: "unsupported_parameter", param: "tool_choice" };
    await expect(ask("required")).rejects.toMatchObject(refusal);
    await expect(ask({ type: "function", function: { name: "launch" } })).rejects.toMatchObject(refusal);
    await expect(ask("none", "guide")).rejects.toMatchObject(refusal);
  });
});
