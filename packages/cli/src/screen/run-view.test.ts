import { PassThrough } from "node:stream";
import {
  Agent,
  type AgentConfig,
  type AgentEvent,
  alert,
  cont,
  defineRail,
  defineTool,
  defineWorkflow,
  halt,
  memberHook,
  parallel,
  preHook,
  retry,
  skip,
  type Tool,
} from "trackside";
import { type Script, type ScriptedStep, scriptedModel } from "trackside/testing";
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
    const event = { type: "someday", run_id: "r", turn_ref: "t", path: [], seq: 4, at: 1, what: "happens" };
    view.show(event as unknown as AgentEvent); // of a later version
    expect(view.text()).toBe('· someday\n  {"what":"happens"}\n');
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

describe("what others do for a run", () => {
  const treeOf = (parts: Readonly<Record<string, readonly ScriptedStep[]>>) => {
    const said = new Map<string, number>();
    return scriptedModel(
      [
        ({ prompt }) => {
          const first = prompt.find((message) => message.role === "user");
          const [part] = first?.role === "user" ? first.content : [];
          const who = part?.type === "text" ? part.text.replace(/^Task:\n/, "") : "";
          const at = said.get(who) ?? 0;
          said.set(who, at + 1);
          const step = parts[who]?.[at];
          return typeof step === "object" || typeof step === "string" ? step : "nothing";
        },
      ],
      { loop: true },
    );
  };

  test("sub-agents are shown under whose they are, behind a bar, with calls numbered after their own", async () => {
    const jobs = [{ task: "one" }];
    const agent = new Agent({
      name: "root",
      model: treeOf({
        go: [{ calls: [{ tool: "spawn_parallel", args: { jobs } }] }, "All done."],
        one: [{ text: "I look.", calls: [{ tool: "look" }] }, "● done · answered"],
      }),
      tools: [tool("look", () => "seen")],
      allowParallelSubagents: true,
    });
    const view = viewOn();
    for await (const event of agent.stream("go")) view.show(event);
    const text = view.text();
    const lines = text.split("\n");
    expect(text).toContain("· sub-agent 1.1[0] started\n┌ sub-agent 1.1[0]\n│ step 1\n│   I look.\n");
    expect(text).toContain("│ → 1.1[0]/1.1 look {}\n");
    expect(text).toMatch(/│ ✓ 1\.1\[0\]\/1\.1 look · \d+ ms\n│ {5}seen\n/);
    expect(text).toContain("│   ● done · answered\n"); // what it said; its end has no indent behind the bar
    expect(lines.filter((line) => line.startsWith("│ ● done"))).toHaveLength(1);
    expect(lines.filter((line) => line.startsWith("● done"))).toHaveLength(1);
    expect(text).toContain("· sub-agent 1.1[0] is done\n");
    // Of those that live side by side nothing is shown in pieces.
    expect(text.match(/I look\./g)).toHaveLength(1);
  });

  test("two at work side by side are told apart wherever one takes over", () => {
    const view = viewOn();
    const stamp = { run_id: "r", turn_ref: "t", seq: 1, at: 0 };
    const step = (child: string, n: number) =>
      view.show({ type: "step", ...stamp, path: [child], step: n, state: "started" } as AgentEvent);
    step("1.1[0]", 1);
    step("1.1[1]", 1);
    step("1.1[0]", 2);
    expect(view.text()).toBe(
      "┌ sub-agent 1.1[0]\n│ step 1\n┌ sub-agent 1.1[1]\n│ step 1\n┌ sub-agent 1.1[0]\n│\n│ step 2\n",
    );
  });

  test("a plan, what became of the context, a handoff and what was kept beside are told in words", () => {
    const view = viewOn();
    const stamp = { run_id: "r", turn_ref: "t", seq: 1, at: 0, path: [] };
    const steps = [{ title: "Look" }, { title: "Act", detail: "but carefully" }];
    for (const event of [
      { type: "plan", plan: { steps } },
      { type: "plan", plan: null, failure: { code: "model_failed", message: "It fell asleep." } },
      {
        type: "context",
        action: "summarised",
        tokens_before: 1204,
        tokens_after: 300,
        detail: "the first 4 turns",
      },
      { type: "handoff", from: "triage", to: "specialist", reason: "it knows" },
      { type: "artifact", artifact_id: "art_1", call_id: null, media_type: "text/plain", bytes: 12_345 },
    ])
      view.show({ ...stamp, ...event } as AgentEvent);
    expect(view.text()).toBe(`≡ plan
  1. Look
  2. Act
    but carefully
! there is no plan, the run goes on without one
  It fell asleep.
· context summarised · 1,204 to 300 tokens
  the first 4 turns
⇒ triage hands over to specialist
    it knows
· kept beside the conversation · art_1 · text/plain · 12.3 kB
`);
  });
});

describe("W4 a workflow, as a person sees it", () => {
  const say = defineTool({ name: "say", effect: "none", execute: () => "said" });
  let fails = 1;
  const shaky = defineTool({
    name: "shaky",
    effect: "none",
    execute: () => {
      fails -= 1;
      if (fails >= 0) throw new Error("not now");
      return "well";
    },
  });
  const inner = defineWorkflow({ name: "inner", nodes: { deep: { kind: "tool", tool: say } } });
  const outer = defineWorkflow({
    name: "outer",
    nodes: {
      shaky: { kind: "tool", tool: shaky, retry: { attempts: 2, delayMs: 0 } },
      pick: { kind: "condition", if: { left: 1, op: "==", right: 2 } },
      never: { kind: "tool", tool: say },
      sub: { kind: "workflow", workflow: inner },
      each: { kind: "map", over: "{{ input.list }}", do: { kind: "workflow", workflow: inner } },
      bad: { kind: "wait", for: { seconds: "{{ input.nothing }}" } },
    },
    edges: [
      { from: "shaky", to: "pick" },
      { from: "pick", to: "never", when: "true" },
      { from: "pick", to: "sub", when: "false" },
      { from: "sub", to: "each" },
      { from: "each", to: "bad" },
    ],
  });

  test("a line where a node begins and ends, what is below it beside it, and all of them as a tree", async () => {
    const view = viewOn();
    for await (const event of outer.stream({ list: [1, 2] })) view.show(event as AgentEvent);
    const text = view.text().replaceAll(/\d+ ms/g, "0 ms");
    expect(text).toContain("▸ shaky · tool\n");
    expect(text).toContain("! shaky failed · trying again now · 0 ms\n  not now\n");
    expect(text).toContain("▸ shaky · tool · try 2\n");
    expect(text).toContain('– never skipped · "pick" went false\n');
    expect(text).toContain("┌ each[1]\n│ ▸ deep · tool\n");
    expect(text).toContain("✗ bad failed · 0 ms\n");
    const tree = text.slice(text.lastIndexOf("✗ failed"));
    expect(tree.replaceAll(/ · for\.seconds.*/g, " · why")).toBe(
      `✗ failed · node_failed · 0 ms
  The node "bad" failed: ${tree.match(/The node "bad" failed: (.*)/)?.[1]}
  ✓ shaky  tool      · 0 ms
  ✓ pick   condition · false · 0 ms
  – never  tool      · "pick" went false
  ✓ sub    workflow  · 0 ms
    ✓ deep  tool      · 0 ms
  ✓ each   map       · 2 items · 0 ms
    ✓ deep  tool      · 0 ms
    ✓ deep  tool      · 0 ms
  ✗ bad    wait      · 0 ms · why
`,
    );
  });
});
