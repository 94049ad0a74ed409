import OpenAI from "openai";
import { Agent, cont, defineTool, postHook, regenerate } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { openAiRoutes } from "../../src/protocols/openai/routes.ts";
import { stage, until } from "./stage.ts";

const clientFor = (url: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey: "tsk_test", maxRetries: 2 });
const user = (content: string) => [{ role: "user" as const, content }];

const weather = defineTool({
  name: "weather",
  input: z.object({ city: z.string() }),
  effect: "none",
  execute: ({ city }) => ({ city, sky: "rain" }),
});
const locate = defineTool({
  name: "locate",
  input: z.object({ precise: z.boolean() }),
  output: z.object({ city: z.string() }),
  executor: "client",
});
const ran: string[] = [];
const refund = defineTool({
  name: "refund",
  input: z.object({ order: z.number() }),
  execute: ({ order }) => {
    ran.push(`refund ${order}`);
    return `refunded ${order}`;
  },
});

test("agents are models", async () => {
  const clerk = new Agent({ name: "clerk", model: scriptedModel([]), instructions: "Keeps order.\nMore." });
  const { url } = await stage([clerk], openAiRoutes());
  const found = [];
  for await (const model of clientFor(url).models.list()) found.push(model);
  expect(found).toMatchObject([{ id: "clerk", object: "model", description: "Keeps order." }]);
  expect(await clientFor(url).models.retrieve("clerk")).toMatchObject({ id: "clerk" });
  await expect(clientFor(url).models.retrieve("nobody")).rejects.toMatchObject({ status: 404 });
});

describe("chat completions", () => {
  const script = () => [
    { text: "Let me see.", calls: [{ tool: "weather", args: { city: "Oslo" } }] },
    "It rains in Oslo.",
  ];

  test("streamed or not, the same text and usage; tools of the agent run on the server", async () => {
    const agents = ["whole", "streamed"].map(
      (name) => new Agent({ name, model: scriptedModel(script()), tools: [weather] }),
    );
    const { url } = await stage(agents, openAiRoutes());
    const client = clientFor(url);
    const whole = await client.chat.completions.create({ model: "whole", messages: user("Weather?") });
    expect(whole.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { role: "assistant", content: "Let me see.\n\nIt rains in Oslo." },
    });
    expect(whole.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 });
    const stream = client.chat.completions.stream({
      model: "streamed",
      messages: user("Weather?"),
      stream_options: { include_usage: true },
    });
    let deltas = 0;
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) deltas += 1;
    expect(deltas).toBeGreaterThan(0);
    expect(await stream.finalContent()).toBe(whole.choices[0]?.message.content);
    expect(await stream.totalUsage()).toMatchObject({ total_tokens: 30 });
  });

  test("T8 tools the client runs come as tool_calls, and their results go on with the same run", async () => {
    const model = scriptedModel([
      { calls: [{ tool: "locate", args: { precise: true } }] },
      "You are in Oslo.",
    ]);
    const agent = new Agent({ name: "guide", model, tools: [locate] });
    const { url, trackside, as } = await stage([agent], openAiRoutes());
    as("operator");
    const runner = clientFor(url).chat.completions.runTools({
      model: "guide",
      messages: user("Where am I?"),
      tools: [
        {
          type: "function",
          function: {
            name: "locate",
            description: "Where the user is",
            parameters: { type: "object", properties: { precise: { type: "boolean" } } },
            parse: JSON.parse,
            function: ({ precise }: { precise: boolean }) => ({ city: precise ? "Oslo" : "?" }),
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe("You are in Oslo.");
    expect(await trackside.runs.list({ tenant: "acme" })).toHaveLength(1);
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain("Oslo");
  });

  test("what came before is the client's to send; with metadata.conversation_id it is the server's", async () => {
    const model = scriptedModel(["You are Una.", "Hello.", "You said hi."]);
    const agent = new Agent({ name: "clerk", model });
    const { url } = await stage([agent], openAiRoutes());
    const client = clientFor(url);
    const given = await client.chat.completions.create({
      model: "clerk",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "I am Una." },
        { role: "assistant", content: "Hello Una." },
        { role: "user", content: "Who am I?" },
      ],
    });
    expect(given.choices[0]?.message.content).toBe("You are Una.");
    const sent = JSON.stringify(model.requests[0]?.prompt);
    for (const text of ["Be brief.", "I am Una.", "Hello Una.", "Who am I?"]) expect(sent).toContain(text);
    const metadata = { conversation_id: "talk-1" };
    await client.chat.completions.create({ model: "clerk", messages: user("Hi"), metadata });
    await client.chat.completions.create({ model: "clerk", messages: user("What did I say?"), metadata });
    expect(JSON.stringify(model.requests[2]?.prompt)).toContain("Hello.");
    expect(JSON.stringify(model.requests[2]?.prompt)).not.toContain("Una");
  });

  test("a run that waits for a human says so, with the approval's id and link", async () => {
    const model = scriptedModel([{ calls: [{ tool: "refund", args: { order: 1 } }] }]);
    const agent = new Agent({ name: "clerk", model, tools: [refund], hitlTools: ["refund"] });
    const { url, trackside } = await stage([agent], openAiRoutes());
    const answer = await clientFor(url).chat.completions.create({
      model: "clerk",
      messages: user("Refund 1"),
    });
    const [pending] = await trackside.approvals.list({ tenant: "acme" });
    expect(answer.choices[0]?.finish_reason).toBe("stop");
    expect(answer.choices[0]?.message.content).toContain(pending?.id);
    expect(answer).toMatchObject({
      trackside: {
        status: "waiting",
        approvals: [{ id: pending?.id, tool: "refund", url: `http://control.room/inbox/${pending?.id}` }],
      },
    });
  });

  test("an agent with an output schema answers in it, and response_format may say so", async () => {
    const schema = z.object({ city: z.string() });
    const model = scriptedModel(['{"city":"Oslo"}', '{"city":"Oslo"}'], { chunk: 3 });
    const agent = new Agent({ name: "form", model, outputSchema: schema });
    const { url } = await stage([agent], openAiRoutes());
    const client = clientFor(url);
    const format = {
      type: "json_schema" as const,
      json_schema: { name: "place", schema: z.toJSONSchema(schema) as Record<string, unknown>, strict: true },
    };
    const answer = await client.chat.completions.parse({
      model: "form",
      messages: user("Where?"),
      response_format: format,
    });
    expect(answer.choices[0]?.message.content).toBe('{"city":"Oslo"}');
    const other = {
      ...format,
      json_schema: { name: "other", schema: { type: "object", properties: { x: {} } } },
    };
    await expect(
      client.chat.completions.create({ model: "form", messages: user("Where?"), response_format: other }),
    ).rejects.toMatchObject({ status: 400, param: "response_format" });
    const stream = client.chat.completions.stream({ model: "form", messages: user("Where?") });
    expect(await stream.finalContent()).toBe('{"city":"Oslo"}');
  });

  test("H7 text that may be taken back is not streamed before it stands", async () => {
    const model = scriptedModel(["Wrong draft.", "Right answer."]);
    const picky = postHook({ name: "picky" }, (turn) =>
      turn.answer === "Wrong draft." ? regenerate("say it right") : cont(turn),
    );
    const agent = new Agent({ name: "writer", model, hooks: { post: [picky] } });
    const { url } = await stage([agent], openAiRoutes());
    const stream = clientFor(url).chat.completions.stream({ model: "writer", messages: user("Write") });
    expect(await stream.finalContent()).toBe("Right answer.");
  });

  test("a failed run is an error that is not sent again, streamed or not", async () => {
    const model = scriptedModel([{ error: new Error("no such model") }, { text: "Half", errorAfter: 4 }]);
    const agent = new Agent({ name: "broken", model });
    const { url, trackside } = await stage([agent], openAiRoutes());
    const client = clientFor(url);
    await expect(
      client.chat.completions.create({ model: "broken", messages: user("Hi") }),
    ).rejects.toMatchObject({ status: 500, code: "model_failed" });
    const read = async () => {
      const stream = await client.chat.completions.create({
        model: "broken",
        messages: user("Hi"),
        stream: true,
      });
      for await (const _ of stream);
    };
    await expect(read()).rejects.toBeInstanceOf(OpenAI.APIError);
    expect(await trackside.runs.list({ tenant: "acme" })).toHaveLength(2);
  });

  test.each([true, false])("a client that goes away cancels the run (stream: %s)", async (stream) => {
    const model = scriptedModel([{ text: "one two three", hangAfter: 5 }]);
    const agent = new Agent({ name: "slow", model });
    const { url, trackside } = await stage([agent], openAiRoutes());
    const leaving = new AbortController();
    const asked = clientFor(url).chat.completions.create(
      { model: "slow", messages: user("Count"), stream },
      { signal: leaving.signal },
    );
    asked.then(
      async (answer) => {
        if (Symbol.asyncIterator in answer) for await (const _ of answer);
      },
      () => {},
    );
    await until(() => model.requests.length === 1);
    leaving.abort();
    const run = await until(async () => {
      const [first] = await trackside.runs.list({ tenant: "acme" });
      return first?.ended_at != null && first;
    });
    expect(run.outcome).toMatchObject({
      status: "cancelled",
      reason: expect.stringContaining("stopped by the client"),
    });
  });

  test("X10 the same Idempotency-Key is the same run", async () => {
    const model = scriptedModel(["Once.", "Twice."]);
    const agent = new Agent({ name: "clerk", model });
    const { url, trackside, as } = await stage([agent], openAiRoutes());
    const ask = () =>
      clientFor(url).chat.completions.create(
        { model: "clerk", messages: user("Go") },
        { headers: { "Idempotency-Key": "k1" } },
      );
    const [first, second] = [await ask(), await ask()];
    expect(second.id).toBe(first.id);
    expect(second.choices).toEqual(first.choices);
    as("admin", "u2"); // another user's key of the same name is another key
    expect((await ask()).choices[0]?.message.content).toBe("Twice.");
    expect(await trackside.runs.list({ tenant: "acme" })).toHaveLength(2);
  });

  test("parameters that would do nothing are refused by name; harmless ones pass", async () => {
    const agent = new Agent({ name: "clerk", model: scriptedModel(["Yes."]) });
    const { url } = await stage([agent], openAiRoutes());
    const create = (more: object) =>
      clientFor(url).chat.completions.create({ model: "clerk", messages: user("Hi"), ...more });
    for (const more of [{ temperature: 0.2 }, { max_tokens: 5 }, { n: 2 }, { stop: "x" }, { logit_bias: {} }])
      await expect(create(more)).rejects.toMatchObject({
        status: 400,
        code: "unsupported_parameter",
        param: Object.keys(more)[0],
      });
    const passes = { temperature: 1, n: 1, user: "u", seed: 4, store: true, top_p: null };
    expect((await create(passes)).choices[0]?.message.content).toBe("Yes.");
  });

  test("pictures and files are parts of the message", async () => {
    const model = scriptedModel(["A cat."]);
    const agent = new Agent({ name: "eye", model });
    const { url } = await stage([agent], openAiRoutes());
    const data = Buffer.from("pixels").toString("base64");
    await clientFor(url).chat.completions.create({
      model: "eye",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is it?" },
            { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } },
            { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${data}` } },
          ],
        },
      ],
    });
    const sent = JSON.stringify(model.requests[0]?.prompt);
    expect(sent).toContain("image/png");
    expect(sent).toContain("application/pdf");
  });
});

describe("responses", () => {
  test("streamed or not: messages, reasoning and the calls that ran on the server are items", async () => {
    const script = () => [
      {
        reasoning: "Look outside.",
        text: "Let me see.",
        calls: [{ tool: "weather", args: { city: "Oslo" } }],
      },
      "It rains.",
    ];
    const agents = ["whole", "streamed"].map(
      (name) => new Agent({ name, model: scriptedModel(script()), tools: [weather] }),
    );
    const { url } = await stage(agents, openAiRoutes());
    const client = clientFor(url);
    const whole = await client.responses.create({ model: "whole", input: "Weather?", metadata: { a: "b" } });
    expect(whole.status).toBe("completed");
    expect(whole.metadata).toEqual({ a: "b" });
    expect(whole.output.map(({ type }) => type)).toEqual(["reasoning", "message", "mcp_call", "message"]);
    expect(whole.output[2]).toMatchObject({ name: "weather", output: '{"city":"Oslo","sky":"rain"}' });
    expect(whole.output_text).toBe("Let me see.It rains.");
    expect(whole.usage).toMatchObject({ input_tokens: 20, output_tokens: 10, total_tokens: 30 });
    const stream = client.responses.stream({ model: "streamed", input: "Weather?" });
    const seen: string[] = [];
    for await (const event of stream) seen.push(event.type);
    const final = await stream.finalResponse();
    expect(final.output_text).toBe(whole.output_text);
    expect(final.output.map(({ type }) => type)).toEqual(whole.output.map(({ type }) => type));
    expect(seen.slice(0, 2)).toEqual(["response.created", "response.in_progress"]);
    expect(seen.at(-1)).toBe("response.completed");
    expect(seen.filter((type) => type === "response.output_text.delta").length).toBeGreaterThan(0);
  });

  test("previous_response_id goes on with the conversation, and again from the same place on a branch", async () => {
    const model = scriptedModel(["Hello Una.", "Una.", "Still Una."]);
    const agent = new Agent({ name: "clerk", model });
    const { url, trackside, as } = await stage([agent], openAiRoutes());
    const client = clientFor(url);
    const first = await client.responses.create({ model: "clerk", input: "I am Una." });
    const next = { model: "clerk", input: "Who am I?", previous_response_id: first.id };
    const second = await client.responses.create(next);
    expect(second.output_text).toBe("Una.");
    const third = await client.responses.create(next);
    expect(third.output_text).toBe("Still Una.");
    const sent = JSON.stringify(model.requests[2]?.prompt);
    expect(sent).toContain("I am Una.");
    expect(sent.match(/Who am I/g)).toHaveLength(1);
    const [conversation] = await trackside.conversations.list({ tenant: "acme" });
    expect(conversation?.branches).toHaveLength(2);
    as("admin", "u1", "other");
    await expect(client.responses.create(next)).rejects.toMatchObject({ status: 404 });
  });

  test("L3 L2 approvals are mcp_approval_request items, decided by mcp_approval_response", async () => {
    ran.length = 0;
    const model = scriptedModel([
      {
        calls: [
          { tool: "refund", args: { order: 1 } },
          { tool: "refund", args: { order: 2 } },
        ],
      },
      "One of two.",
    ]);
    const agent = new Agent({ name: "clerk", model, tools: [refund], hitlTools: ["refund"] });
    const { url, as } = await stage([agent], openAiRoutes());
    const client = clientFor(url);
    const asked = await client.responses.create({ model: "clerk", input: "Refund 1 and 2" });
    const requests = asked.output.filter((item) => item.type === "mcp_approval_request");
    expect(requests).toMatchObject([
      { name: "refund", arguments: '{"order":1}', server_label: "clerk" },
      { name: "refund", arguments: '{"order":2}' },
    ]);
    const input = requests.map(({ id }, i) => ({
      type: "mcp_approval_response" as const,
      approval_request_id: id,
      approve: i === 0,
      reason: i === 0 ? undefined : "no more money",
    }));
    const decide = {
      model: "clerk",
      previous_response_id: asked.id,
      input: input as OpenAI.Responses.ResponseInput,
    };
    as("operator");
    await expect(client.responses.create(decide)).rejects.toMatchObject({ status: 403 });
    expect(ran).toEqual([]);
    as("admin");
    const done = await client.responses.create(decide);
    expect(done.output_text).toBe("One of two.");
    expect(done.id).not.toBe(asked.id);
    expect(ran).toEqual(["refund 1"]);
    expect(done.output.filter((item) => item.type === "mcp_call")).toMatchObject([
      { status: expect.any(String), approval_request_id: expect.any(String) },
      { status: expect.any(String) },
    ]);
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain("no more money");
    const again = await client.responses.create(decide);
    expect(again.output_text).toBe("One of two.");
    expect(ran).toEqual(["refund 1"]);
  });

  test("T8 function calls of the client's tools, streamed", async () => {
    const model = scriptedModel([{ calls: [{ tool: "locate", args: { precise: false } }] }, "Oslo."]);
    const agent = new Agent({ name: "guide", model, tools: [locate] });
    const { url } = await stage([agent], openAiRoutes());
    const client = clientFor(url);
    const asked = await client.responses.stream({ model: "guide", input: "Where?" }).finalResponse();
    const [call] = asked.output;
    expect(call).toMatchObject({ type: "function_call", name: "locate", arguments: '{"precise":false}' });
    if (call?.type !== "function_call") throw new Error("nothing was called");
    const output = {
      type: "function_call_output" as const,
      call_id: call.call_id,
      output: '{"city":"Oslo"}',
    };
    const wrong = client.responses.create({
      model: "guide",
      previous_response_id: asked.id,
      input: [{ ...output, output: '{"town":1}' }],
    });
    await expect(wrong).rejects.toMatchObject({ status: 400, code: "decision_invalid" });
    const stream = client.responses.stream({
      model: "guide",
      previous_response_id: asked.id,
      input: [output],
    });
    expect((await stream.finalResponse()).output_text).toBe("Oslo.");
  });

  test("a failed run is response.failed in a stream and an error without", async () => {
    const model = scriptedModel([
      { error: new Error("no such model") },
      { error: new Error("no such model") },
    ]);
    const agent = new Agent({ name: "broken", model });
    const { url } = await stage([agent], openAiRoutes());
    const client = clientFor(url);
    await expect(client.responses.create({ model: "broken", input: "Hi" })).rejects.toMatchObject({
      status: 500,
    });
    const stream = await client.responses.create({ model: "broken", input: "Hi", stream: true });
    const events = [];
    for await (const event of stream) events.push(event);
    expect(events.at(-1)).toMatchObject({
      type: "response.failed",
      response: { status: "failed", error: { message: expect.stringContaining("no such model") } },
    });
  });
});
