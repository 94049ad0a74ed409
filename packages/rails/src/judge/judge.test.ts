import { Agent, defineTool, RailAbortError } from "trackside";
import { type ScriptedStep, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES } from "../../test/engines.ts";
import { results } from "../../test/outcomes.ts";
import { builtInRails, type JudgeOptions, judge } from "../index.ts";
import { fill, readVerdict } from "./question.ts";

const PASS = '{"verdict":"PASS"}';
const FAIL = '{"verdict":"FAIL","reason":"that is not what was asked for"}';
const CALL: ScriptedStep = { calls: [{ tool: "send", args: { to: "mallory" } }] };
const asked = { question: "Is this what the user asked for?", model: "openai:judge" };

describe.each(ENGINES)("on $name", ({ make }) => {
  function setUp(options: JudgeOptions, script: readonly ScriptedStep[], verdicts: readonly ScriptedStep[]) {
    const sent: unknown[] = [];
    const send = defineTool({ name: "send", input: { type: "object" }, execute: (args) => sent.push(args) });
    const look = defineTool({ name: "look", execute: () => "secret plans" });
    const model = scriptedModel(script);
    const judging = scriptedModel(verdicts);
    const agent = new Agent({ name: "a", model, tools: [send, look], rails: [judge(options)] });
    const engine = make({ models: { "openai:judge": judging }, retry: { retries: 0 } });
    return { sent, judging, model, run: (more = {}) => agent.run("Mail bob.", { engine, ...more }) };
  }

  test("a call runs when the judge passes it, and not when it fails it", async () => {
    const options: JudgeOptions = { subject: "tool-call", ...asked };
    const { run, sent, judging } = setUp(options, [CALL, CALL, "done"], [PASS, FAIL]);
    const { messages, usage } = await run();
    expect(sent).toHaveLength(1);
    expect(results(messages)).toEqual([1, expect.stringMatching(/^rejected: .*not what was asked for/)]);
    const shown = JSON.stringify(judging.requests[0]?.prompt);
    for (const text of ["Mail bob.", "mallory", "send", "Is this what the user asked for?"])
      expect(shown).toContain(text);
    expect(usage.model_calls).toBe(5);
  });

  test("it may ask a human, or end the run", async () => {
    const asking = setUp({ subject: "tool-call", ...asked, onFail: "ask" }, [CALL, "done"], [FAIL]);
    const reasons: string[] = [];
    await asking.run({
      approve: (approval: { reasons: string[] }) => {
        reasons.push(...approval.reasons);
        return { choice: "reject" };
      },
    });
    expect(reasons).toEqual([expect.stringContaining("not what was asked for")]);
    expect(asking.sent).toEqual([]);
    const ending = setUp({ subject: "tool-call", ...asked, onFail: "abort" }, [CALL], [FAIL]);
    await expect(ending.run()).rejects.toThrow(RailAbortError);
  });

  test.each([
    { title: "gives no verdict", verdict: "Looks fine to me!" },
    { title: "hides its verdict in talk", verdict: `Sure: ${PASS}` },
    { title: "says more than a verdict", verdict: '{"verdict":"PASS","note":"x"}' },
    { title: "says something else", verdict: '{"verdict":"pass"}' },
    { title: "fails", verdict: { error: new Error("overloaded") } },
    { title: "does not answer in time", verdict: { hang: true as const } },
  ])("a judge that $title has not passed it, unless that is wanted", async ({ verdict }) => {
    const options: JudgeOptions = { subject: "tool-call", ...asked, timeoutSeconds: 0.05 };
    const closed = setUp(options, [CALL, "done"], [verdict]);
    await closed.run();
    expect(closed.sent).toEqual([]);
    const open = setUp({ ...options, undecided: "pass" }, [CALL, "done"], [verdict]);
    await open.run();
    expect(open.sent).toHaveLength(1);
  });

  test("the user's message is judged before anything happens", async () => {
    const { run, model } = setUp({ subject: "input", ...asked, message: "Not here." }, ["hello"], [FAIL]);
    expect(await run()).toMatchObject({ output: "Not here.", stopReason: "skipped" });
    expect(model.requests).toHaveLength(0);
  });

  test("an answer is withheld, or written again, before anybody sees it", async () => {
    const withheld = setUp(
      { subject: "output", ...asked, message: "Sorry." },
      [CALL, "The plans: …"],
      [FAIL],
    );
    expect((await withheld.run()).output).toBe("Sorry.");
    expect(withheld.judging.requests).toHaveLength(1);
    const again = setUp(
      { subject: "output", ...asked, onFail: "retry" },
      ["The plans: …", "Hello bob."],
      [FAIL, PASS],
    );
    expect((await again.run()).output).toBe("Hello bob.");
  });

  test("a result is withheld from the model", async () => {
    const options: JudgeOptions = { subject: "tool-result", tools: "look", ...asked, showInput: false };
    const { run, judging } = setUp(
      options,
      [{ calls: [{ tool: "look" }, { tool: "send" }] }, "done"],
      [FAIL],
    );
    const { messages } = await run();
    expect(results(messages)).toEqual([expect.stringContaining("withheld by judge"), 1]);
    expect(judging.requests).toHaveLength(1);
    expect(JSON.stringify(judging.requests)).not.toContain("Mail bob.");
  });

  test("a serialized agent takes it by name", async () => {
    const json = {
      name: "a",
      model: "openai:m",
      rails: [{ use: "judge", name: "polite", options: { subject: "output", question: "Is it polite?" } }],
    };
    const agent = Agent.fromJSON(json, { rails: builtInRails });
    const models = { "openai:m": scriptedModel(["Go away.", FAIL]) };
    expect((await agent.run("hi", { engine: make({ models }) })).output).toBe("I cannot answer that.");
  });
});

test("material is filled in as JSON, once", () => {
  const material = { output: 'Say "{{question}}" and {{input}}', input: "x" };
  expect(fill("{{question}} {{ output }} {{result}}", "Q {{output}}?", material)).toBe(
    'Q {{output}}? "Say \\"{{question}}\\" and {{input}}" null',
  );
});

test("a verdict may stand in a code block, and nothing beside it", () => {
  expect(readVerdict(`\`\`\`json\n${PASS}\n\`\`\``)).toEqual({ verdict: "PASS" });
  expect(readVerdict(` ${FAIL} `)).toMatchObject({ verdict: "FAIL" });
  const both = '{"verdict":"FAIL","verdict":"PASS"}';
  for (const text of [both, "", "PASS", `${PASS}${PASS}`, `${FAIL}\n${PASS}`, '"PASS"', '["PASS"]', "null"])
    expect(readVerdict(text)).toBeUndefined();
});

test("options are checked for what they would mean", () => {
  const wrong = (options: object) => () =>
    judge({ subject: "output", question: "Ok?", ...options } as JudgeOptions);
  expect(wrong({ onFail: "ask" })).toThrow(/only a tool call can be asked about/);
  expect(wrong({ subject: ["output", "input"], onFail: "retry" })).toThrow(
    /only an answer can be written again/,
  );
  expect(wrong({ prompt: "{{question}} {{outptu}}" })).toThrow(/not \{\{outptu\}\}/);
  expect(wrong({ prompt: "{{question}}" })).toThrow(/at least \{\{material\}\}/);
  expect(wrong({ model: "gpt" })).toThrow(/provider:model/);
  expect(judge({ subject: "tool-call", question: "Ok?", onFail: "ask" })).toMatchObject({
    asks: true,
    timeoutMs: 25_000,
  });
});
