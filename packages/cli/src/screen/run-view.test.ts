import { PassThrough } from "node:stream";
import { Agent, type AgentEvent, defineTool, type Tool } from "trackside";
import { type Script, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { RunView } from "./run-view.ts";
import { Screen } from "./screen.ts";

function viewOn(columns?: number) {
  const stream = Object.assign(new PassThrough(), columns === undefined ? {} : { isTTY: true, columns });
  const view = new RunView(new Screen(stream, {}), "scripted");
  return {
    show: (event: AgentEvent) => view.show(event),
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are of no interest here
    text: () => String(stream.read() ?? "").replaceAll(/\x1b\[\d+m/g, ""),
  };
}

async function shown(script: Script, tools: readonly Tool[] = [], columns?: number): Promise<string> {
  const agent = new Agent({ name: "agent", model: scriptedModel(script), tools });
  const view = viewOn(columns);
  for await (const event of agent.stream("go")) view.show(event);
  return view.text();
}

const tool = (name: string, execute: () => unknown) =>
  defineTool({ name, input: { type: "object" }, execute: execute as () => string });

describe("a run, as a person sees it", () => {
  test("arguments are shown whole, however long", async () => {
    const note = "All work and no play. ".repeat(40);
    const text = await shown(
      [{ calls: [{ tool: "log", args: { note } }] }, "Done."],
      [tool("log", () => "ok")],
      60,
    );
    const lines = text.split("\n");
    const from = lines.indexOf("→ 1.1 log");
    const args = lines.slice(
      from + 1,
      lines.findIndex((line) => line.startsWith("✓")),
    );
    expect(args.map((line) => line.trim()).join(" ")).toContain(note.trim());
    for (const line of lines) expect(line.length).toBeLessThan(60);
  });

  test("long results are cut, with their size", async () => {
    const rows = Array.from({ length: 40 }, (_, i) => `row ${i}`).join("\n");
    const text = await shown([{ calls: [{ tool: "read" }] }, "Done."], [tool("read", () => rows)]);
    expect(text).toContain("    row 11\n    … cut here, 269 bytes in all\n");
    expect(text).not.toContain("row 12");
  });

  test("a retry and its reason are told", async () => {
    const agent = new Agent({
      name: "agent",
      model: scriptedModel([{ error: Object.assign(new Error("busy"), { statusCode: 503 }) }, "Now."]),
    });
    const view = viewOn();
    for await (const event of agent.stream("go")) view.show(event);
    expect(view.text()).toMatch(
      /step 1\n! trying again in \d+ ms\n {2}The model .* failed: busy\.\n {2}Now\.\n/,
    );
  });

  test("text that failed half way stays and is marked", async () => {
    const text = await shown([{ text: "So far so", error: new Error("gone"), errorAfter: 5 }]);
    expect(text).toMatch(/ {2}So far\n· cut off here\n\n✗ failed · model_failed · 1 step .*\n {2}.*gone/);
  });

  test("reasoning is set apart from the answer, by more than its colour", async () => {
    const text = await shown([{ reasoning: "Hm, let me see.", text: "Yes." }]);
    expect(text).toContain("step 1\n· thinking\n    Hm, let me see.\n  Yes.\n");
  });

  test("text that was not streamed is shown when it is complete, and no text twice", () => {
    const view = viewOn();
    const common = { run_id: "r", turn_ref: "t", path: [] };
    const text = { type: "text" as const, ...common, seq: 3, at: 1, message_id: "m", text: "Hello there." };
    const delta = { type: "text_delta" as const, ...common, after_seq: 2, attempt: 1, message_id: "m" };
    view.show(text);
    view.show({ ...delta, message_id: "n", offset: 0, text: "Bye " });
    view.show({ ...delta, message_id: "n", offset: 0, text: "Bye " });
    view.show({ ...text, message_id: "n", text: "Bye now." });
    expect(view.text()).toBe("  Hello there.\n  Bye now.\n");
  });

  test("an event it does not know is named with what it says", () => {
    const view = viewOn();
    view.show({
      type: "handoff",
      run_id: "r",
      turn_ref: "t",
      path: [],
      seq: 4,
      at: 1,
      from: "a",
      to: "b",
      reason: "asked",
    });
    expect(view.text()).toBe('· handoff\n  {"from":"a","to":"b","reason":"asked"}\n');
  });
});
