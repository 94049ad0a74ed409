import { Agent, defineTool } from "trackside";
import { hostileEngine, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";

describe.each([
  ["the local engine", undefined],
  ["the hostile world", hostileEngine()],
])("a note injected into a run, on %s", (_name, engine) => {
  const options = engine === undefined ? {} : { engine };

  test("is in the next model call, at its end, and in no other", async () => {
    let inject: ((note: string) => Promise<unknown>) | undefined;
    const noted: Promise<unknown>[] = [];
    const look = defineTool({
      name: "look",
      async execute() {
        if (noted.length === 0 && inject) noted.push(inject("Mind the gap."));
        return "seen";
      },
    });
    const model = scriptedModel([{ calls: [{ tool: "look" }] }, { calls: [{ tool: "look" }] }, "Done."]);
    const agent = new Agent({ name: "a", model, tools: [look] });
    const run = agent.stream("Go.", options);
    inject = (note) => run.inject(note);
    const { conversation, runId } = await run.result;
    expect(await Promise.all(noted)).toMatchObject([{ state: "admitted", runId }]);
    const prompts = model.requests.map(({ options: { prompt } }) => JSON.stringify(prompt));
    expect(prompts.map((prompt) => prompt.includes("Mind the gap."))).toEqual([false, true, false]);
    expect(model.requests[1]?.options.prompt.at(-1)).toEqual({
      role: "user",
      content: [{ type: "text", text: "Mind the gap." }],
    });
    expect(JSON.stringify(conversation)).not.toContain("Mind the gap.");
  });

  test("is dropped when the run makes no more calls, and the receipt says so", async () => {
    const agent = new Agent({ name: "a", model: scriptedModel(["Done."]) });
    const run = agent.stream("Go.", options);
    const { runId } = await run.result;
    expect(await run.inject("Too late.")).toMatchObject({ state: "dropped", runId });
  });
});
