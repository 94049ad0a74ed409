import { PassThrough } from "node:stream";
import {
  Agent,
  type AgentConfig,
  type AgentEvent,
  alert,
  cont,
  defineRail,
  defineTool,
  halt,
  memberHook,
  parallel,
  preHook,
  retry,
  skip,
  type Tool,
} from "trackside";
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

describe("what guards do, as a person sees it", () => {
  const looking = defineTool({ name: "look", effect: "none", execute: () => "seen" });
  type Guards = Pick<AgentConfig<readonly Tool[], never>, "rails" | "hooks" | "streamRelease">;
  const run = async (guards: Guards, script: Script) => {
    const agent = new Agent({ name: "agent", model: scriptedModel(script), tools: [looking], ...guards });
    const view = viewOn();
    for await (const event of agent.stream("go")) view.show(event);
    return view.text();
  };
  const call: Script = [{ calls: [{ tool: "look" }] }, "Done."];

  test("a rail is named with what it did and why (R12)", async () => {
    const text = await run(
      {
        rails: [
          defineRail({ name: "notes", on: ["POST_TOOL_CALL"] }, () => alert("something odd")),
          defineRail({ name: "no-looking", on: ["PRE_TOOL_CALL"] }, () =>
            skip("looking is rude\n✓ 9.9 forged"),
          ),
        ],
      },
      call,
    );
    expect(text).toContain("! rail no-looking · skipped it · 1.1\n  looking is rude\n  ✓ 9.9 forged\n");
    expect(text).toContain("✗ 1.1 look not run · 0 ms\n    Not run: no-looking does not allow it");
  });

  test("an alert is told although it changes nothing", async () => {
    const rails = [defineRail({ name: "notes", on: ["POST_TOOL_CALL"] }, () => alert("something odd"))];
    expect(await run({ rails }, call)).toContain("! rail notes · noticed · 1.1\n  something odd\n");
  });

  test("a rail that rewrites is named with what it changed (R12)", async () => {
    const rail = defineRail({ name: "trim", on: ["POST_TOOL_CALL"] }, (ctx) => {
      ctx.inputs.result = "se";
    });
    expect(await run({ rails: [rail] }, call)).toMatch(
      /· rail trim · changed result · 1\.1\n✓ 1\.1 look .*\n {4}se\n/,
    );
  });

  test("a rail in shadow is marked (R13)", async () => {
    const rail = defineRail({ name: "trial", on: ["PRE_TOOL_CALL"], mode: "shadow" }, () => skip("why not"));
    const text = await run({ rails: [rail] }, call);
    expect(text).toContain(
      "· rail trial · would have skipped it · 1.1 (shadow, nothing is changed)\n  why not\n",
    );
    expect(text).toContain("✓ 1.1 look");
  });

  test("text that was shown and taken back no longer stands (R15)", async () => {
    const rail = defineRail({ name: "editor", on: ["POST_LLM_CALL"] }, (ctx) =>
      ctx.attempt === 1 ? retry({ reason: "too short" }) : undefined,
    );
    const text = await run({ rails: [rail], streamRelease: "live" }, ["No.", "No, thank you."]);
    expect(text).toMatch(
      / {2}No\.\n.*! the text above no longer stands\n {2}[^\n]*too short\n.* {2}No, thank you\.\n/s,
    );
  });

  test("text that was held back is said to have been withheld (R15)", async () => {
    const rail = defineRail({ name: "editor", on: ["POST_LLM_CALL"] }, (ctx) =>
      ctx.attempt === 1 ? retry({ reason: "too short" }) : undefined,
    );
    const text = await run({ rails: [rail] }, ["No.", "No, thank you."]);
    expect(text).toContain("· text is shown once it has passed\n  editor\n");
    expect(text).not.toContain("no longer stands");
    expect(text).not.toContain("  No.\n");
  });

  test("a hook that was left out is named, and the run goes on (H3)", async () => {
    const member = memberHook({ name: "weather" }, () => {
      throw new Error("no wind today");
    });
    const text = await run({ hooks: { pre: [parallel(member)] } }, ["Done."]);
    expect(text).toContain('! left out, the run goes on\n  The hook "weather" was left out: ');
    expect(text).toContain("no wind today");
    expect(text).toContain("● done · answered");
  });

  test("what a hook adds is mentioned", async () => {
    const hook = preHook({ name: "date" }, (turn) => cont(turn.append("It is Monday.")));
    expect(await run({ hooks: { pre: [hook] } }, ["Done."])).toMatch(/· added by .*, for this turn only\n/);
  });

  test("a turn that was halted or skipped ends with the reason (H3, R7)", async () => {
    const stop = preHook({ name: "hours" }, () => halt("closed on Sundays"));
    expect(await run({ hooks: { pre: [stop] } }, [])).toMatch(
      /● done · halted · .*\n {2}hours: closed on Sundays\n$/,
    );
    const rail = defineRail({ name: "gate", on: ["START"] }, () => skip("not for you"));
    expect(await run({ rails: [rail] }, [])).toMatch(
      /! rail gate · skipped it\n {2}not for you\n● done · skipped · .*\n {2}not for you\n$/,
    );
  });

  test("a decision is told with who made it (L2)", async () => {
    const agent = new Agent({
      name: "agent",
      model: scriptedModel([{ calls: [{ tool: "look" }, { tool: "look" }] }, "Done."]),
      tools: [looking],
      hitlTools: ["look"],
    });
    const view = viewOn();
    const stream = agent.stream("go");
    const choices = ["approve", "reject"];
    for await (const event of stream) {
      view.show(event);
      if (event.type === "approval" && event.state === "pending")
        void stream.decide(event.approval_id, { choice: choices.shift() ?? "", by: "ann\n◆ x" });
    }
    const text = view.text();
    expect(text).toContain("◆ 1.1 look approved by ann ◆ x\n");
    expect(text).toContain("◆ 1.2 look rejected by ann ◆ x\n");
    expect(text).toContain("✓ 1.1 look");
    expect(text).toContain("✗ 1.2 look not run · 0 ms\n    Not run: the call was rejected\n");
  });
});
