import type { AgentEvent, Approval, DecisionInput } from "trackside";
import { describe, expect, test } from "vitest";
import { AskPerson } from "../src/approvals/ask-person.ts";
import type { Editor } from "../src/approvals/open-editor.ts";
import { chatPrompt } from "../src/chat-loop.ts";
import { Held } from "../src/screen/held.ts";
import { Screen } from "../src/screen/screen.ts";
import { clockedTerminal, onFakeClock, pass } from "./support/clocked-terminal.ts";
import { plain } from "./support/heard.ts";

const deploy: Approval = {
  id: "run.1.approval",
  kind: "tool_call",
  run_id: "run",
  call_id: "run.1",
  tool: "deploy",
  arguments: { service: "checkout", version: "v12" },
  injected_args: {},
  digest: "",
  reasons: ["deploy is in hitl_tools"],
  requester: "releaser",
  choices: ["approve", "reject"],
  response_schema: null,
  state: "pending",
  requested_at: 0,
  deadline: null,
  decision: null,
};

const pick: Approval = {
  ...deploy,
  kind: "client_tool",
  tool: "pick",
  arguments: {},
  choices: ["submit", "reject"],
};

type Refusal = { code: string; message: string };

/** A person at a terminal, and a desk that takes every decision unless told otherwise. */
function atTerminal({
  editor,
  refuse,
}: {
  editor?: Editor;
  refuse?: (d: DecisionInput) => Refusal | undefined;
} = {}) {
  const terminal = clockedTerminal();
  const { io } = terminal;
  const screen = new Screen(io.stdout, io.env);
  const prompt = chatPrompt(io, io.stdout, screen);
  const decided: DecisionInput[] = [];
  let interrupts = 0;
  const held = new Held((event) => screen.line(`event ${event.type}`));
  const approver = new AskPerson(
    {
      async decide(id, decision) {
        const refused = refuse?.(decision);
        if (refused) throw Object.assign(new Error(refused.message), { code: refused.code });
        decided.push(decision);
        return { ...deploy, id };
      },
      interrupt: () => {
        interrupts += 1;
      },
    },
    {
      screen,
      prompt: () => prompt,
      editor,
      callOf: () => ({ label: "1.1", written: { service: "checkout", version: "v12" } }),
      hold: () => held.hold(),
      release: () => held.release(),
    },
  );
  return { ...terminal, approver, prompt, decided, held, interrupts: () => interrupts };
}

const anEvent: AgentEvent = {
  type: "text",
  run_id: "r",
  turn_ref: "t",
  path: [],
  seq: 1,
  at: 1,
  message_id: "m",
  text: "x",
};
const settledAs = (id: string) => ({ approval_id: id });

describe("a person who is asked", () => {
  onFakeClock();

  test("sees everything a decision needs, and approves (L1)", async () => {
    const { approver, see, type, decided } = atTerminal();
    approver.asked({ ...deploy, deadline: Date.now() + 3_600_000 });
    await see("◆ waiting for you · 1.1 deploy\n");
    await see('    {"service": "checkout", "version": "v12"}\n');
    await see("asked by releaser, because\n    deploy is in hitl_tools\n");
    await see("60 min from now; then it does not run");
    await see("a  approve  runs deploy once, with exactly these arguments\n");
    await see("r  reject   does not run deploy; the model reads why and goes on\n");
    await see("e  edit     ");
    await see("deploy · a, r, e or ? · 60 min left › ");
    type("a\r");
    await pass();
    expect(decided).toEqual([{ choice: "approve", by: "terminal" }]);
  });

  test("is asked for a reason when rejecting", async () => {
    const { approver, see, type, decided } = atTerminal();
    approver.asked(deploy);
    await see("a, r, e or ? › ");
    type("r\r");
    await see("Why? The model reads it.");
    await see("reason › ");
    type("not on a friday\r");
    await pass();
    expect(decided).toEqual([{ choice: "reject", reason: "not on a friday", by: "terminal" }]);
  });

  test("may give the reason on the same line, or none", async () => {
    const { approver, see, type, decided } = atTerminal();
    approver.asked(deploy);
    approver.asked({ ...deploy, id: "second" });
    await see("a, r, e or ? · 1 of 2 › ");
    type("r too early\r");
    await see("a, r, e or ? · 2 of 2 › ");
    type("reject\r");
    await see("reason › ");
    type("\r");
    await pass();
    expect(decided).toEqual([
      { choice: "reject", reason: "too early", by: "terminal" },
      { choice: "reject", by: "terminal" },
    ]);
  });

  test("approves with one letter and nothing else", async () => {
    const { approver, see, type, decided } = atTerminal();
    approver.asked(deploy);
    for (const answer of ["a lot of text\r", "yes\r", "A\r", "\r"]) {
      await see("a, r, e or ? › ");
      type(answer);
    }
    await see("a, r, e or ? › ");
    expect(decided).toEqual([]);
    type("?\r");
    await see("◆ waiting for you · 1.1 deploy");
  });

  test("edits on one line: what changed is shown before it is sent, a bad edit asks again (L3)", async () => {
    const { approver, see, type, decided } = atTerminal({
      refuse: ({ editedArguments }) =>
        editedArguments?.version === "12"
          ? { code: "decision_invalid", message: "version: no match" }
          : undefined,
    });
    approver.asked(deploy);
    await see("a, r, e or ? › ");
    type("e\r");
    await see('arguments › {"service":"checkout","version":"v12"}');
    type("\x7f\r"); // the brace is gone
    await see("! nothing was changed\n  this is not valid JSON");
    await see("a, r, e or ? › ");
    type("e\r");
    await see('arguments › {"service":"checkout","version":"v12"');
    type('\x15{"service": "checkout", "version": "12"}\r');
    await see('Your changes, not sent yet\n    - version: "v12"\n    + version: "12"\n');
    await see("edited · a, r, e, u or ? › ");
    expect(decided).toEqual([]);
    type("a\r");
    await see("! not taken\n  version: no match\n");
    await see("edited · a, r, e, u or ? › ");
    type("e\r");
    await see('arguments › {"service":"checkout","version":"12"}');
    type('\x15{"service": "checkout", "version": "v13"}\r');
    await see('    + version: "v13"\n');
    await see("edited · a, r, e, u or ? › ");
    type("a\r");
    await pass();
    const editedArguments = { service: "checkout", version: "v13" };
    expect(decided).toEqual([{ choice: "approve", editedArguments, by: "terminal" }]);
  });

  test("edits in an editor, and may undo it", async () => {
    const written: string[] = [];
    const editor: Editor = {
      name: "ed",
      async edit(text) {
        written.push(text);
        return { text: text.replace("v12", "v13") };
      },
    };
    const { approver, see, type, decided } = atTerminal({ editor });
    approver.asked(deploy);
    await see("e  edit     lets you change the arguments first in ed");
    await see("a, r, e or ? › ");
    type("e\r");
    await see('    - version: "v12"\n    + version: "v13"\n');
    await see("edited · a, r, e, u or ? › ");
    type("u\r");
    await see("deploy · a, r, e or ? › ");
    type("a\r");
    await pass();
    expect(written).toEqual(['{\n  "service": "checkout",\n  "version": "v12"\n}']);
    expect(decided).toEqual([{ choice: "approve", by: "terminal" }]);
  });

  test("an editor that fails, or changes nothing, leaves things as they were", async () => {
    const answers = [{ problem: "ed ended with 1" }, { text: '{"version": "v12", "service": "checkout"}' }];
    const editor: Editor = { name: "ed", edit: async () => answers.shift() ?? { text: "" } };
    const { approver, see, type } = atTerminal({ editor });
    approver.asked(deploy);
    await see("a, r, e or ? › ");
    type("e\r");
    await see("! nothing was changed\n  ed ended with 1\n");
    await see("deploy · a, r, e or ? › ");
    type("e\r");
    await see("! nothing was changed\n  The arguments are as they were.\n");
    await see("deploy · a, r, e or ? › ");
  });

  test("is asked about one after another, each with its number (L2)", async () => {
    const { approver, see, type, decided } = atTerminal();
    approver.asked(deploy);
    approver.asked({ ...deploy, id: "second", arguments: { service: "search", version: "v3" } });
    await see("◆ waiting for you · 1 of 2 · 1.1 deploy");
    await see("1 of 2 › ");
    type("a\r");
    await see("◆ waiting for you · 2 of 2 · 1.1 deploy");
    await see('"service": "search"');
    await see("2 of 2 › ");
    type("r no\r");
    await pass();
    expect(decided.map(({ choice }) => choice)).toEqual(["approve", "reject"]);
    approver.asked({ ...deploy, id: "third" });
    await see("◆ waiting for you · 1.1 deploy");
  });

  test("loses the question when the deadline decides, at any point of it (L4)", async () => {
    const { approver, see, type, decided, shown } = atTerminal();
    approver.asked({ ...deploy, deadline: Date.now() + 50_000 });
    approver.asked({ ...deploy, id: "second" });
    await see(" s left › ");
    type("r\r");
    await see("reason · ");
    type("half a reas");
    await pass();
    approver.settled(settledAs(deploy.id));
    await see("◆ waiting for you · 2 of 2");
    await see("2 of 2 › ");
    expect(shown()).toContain("\r\x1b[2K");
    approver.settled(settledAs("second"));
    await pass();
    await approver.end();
    expect(decided).toEqual([]);
  });

  test("one that was decided before it was asked is not asked", async () => {
    const { approver, see, shown } = atTerminal();
    approver.asked(deploy);
    approver.asked({ ...deploy, id: "second" });
    await see("1 of 2 › ");
    approver.settled(settledAs("second"));
    approver.settled(settledAs(deploy.id));
    await pass(300);
    expect(plain(shown())).not.toContain("2 of 2");
  });

  test("who is too late is told who was first (L4)", async () => {
    const message = "The approval run.1.approval is closed: its deadline has passed";
    const { approver, see, type } = atTerminal({ refuse: () => ({ code: "approval_conflict", message }) });
    approver.asked(deploy);
    await see("a, r, e or ? › ");
    type("a\r");
    await see(`! not taken\n  ${message}\n`);
    await approver.end();
  });

  test("Ctrl-C stops the turn, and nothing more is asked", async () => {
    const { approver, see, type, decided, interrupts, raw } = atTerminal();
    approver.asked(deploy);
    approver.asked({ ...deploy, id: "second" });
    await see("1 of 2 › ");
    type("r\r");
    await see("reason › ");
    type("hm\x03");
    await pass(300);
    expect(interrupts()).toBe(1);
    expect(decided).toEqual([]);
    expect(raw.at(-1)).toBe(false);
    await approver.end();
  });

  test("Ctrl-D stops it as well", async () => {
    const { approver, see, type, interrupts } = atTerminal();
    approver.asked(deploy);
    await see("a, r, e or ? › ");
    type("\x04");
    await pass();
    expect(interrupts()).toBe(1);
  });

  test("what was typed before the question counts for nothing", async () => {
    const { approver, see, type, decided } = atTerminal();
    type("a\r");
    approver.asked(deploy);
    await pass(50);
    type("a\r");
    await see("What was typed before this question is not taken.");
    await see("a, r, e or ? › ");
    await pass();
    expect(decided).toEqual([]);
  });

  test("pasted lines are one answer, and approve nothing", async () => {
    const { approver, see, type, decided } = atTerminal();
    approver.asked(deploy);
    await see("a, r, e or ? › ");
    type("a\rb\r");
    await see("! not understood");
    await see("a, r, e or ? › ");
    type("r\r");
    await see("reason › ");
    type("one\ra\r");
    await pass();
    expect(decided).toEqual([{ choice: "reject", reason: "one\na", by: "terminal" }]);
  });

  test("answers do not join the history of messages", async () => {
    const { approver, see, type, prompt } = atTerminal();
    approver.asked(deploy);
    await see("a, r, e or ? › ");
    type("r secret reason\r");
    await pass();
    await approver.end();
    const next = prompt.ask();
    await pass();
    type("\x1b[A\r");
    await pass(600);
    type("\x04");
    expect(await next).toBe("");
  });

  test("nothing else is shown meanwhile, and all of it afterwards", async () => {
    const { approver, see, type, held, shown } = atTerminal();
    approver.asked(deploy);
    await see("a, r, e or ? › ");
    held.show(anEvent);
    await pass();
    expect(plain(shown())).not.toContain("event text");
    type("a\r");
    await see("event text");
  });

  test("supplies the result of a client tool, checked against the schema shown (T8)", async () => {
    const { approver, see, type, decided } = atTerminal({
      refuse: ({ response }) =>
        response === 42 ? { code: "decision_invalid", message: "response: a colour expected" } : undefined,
    });
    approver.asked({ ...pick, response_schema: { type: "object", required: ["colour"] } });
    await see('result wanted, as this schema says\n    {"type": "object", "required": ["colour"]}\n');
    await see("pick · s, r or ? › ");
    type("s\r");
    await see("result › ");
    type("blue\r");
    await see("! nothing was sent\n  this is not valid JSON");
    await see("pick · s, r or ? › ");
    type("s\r");
    await see("result › blue");
    type("\x1542\r");
    await see("! not taken\n  response: a colour expected");
    await see("pick · s, r or ? › ");
    type("s\r");
    await see("result › ");
    type('\x15{"colour": "red"}\r');
    await pass();
    expect(decided).toEqual([{ choice: "submit", response: { colour: "red" }, by: "terminal" }]);
  });

  test("cannot be fooled by what arguments and reasons say", async () => {
    const { approver, see, shown, held } = atTerminal();
    held.hold();
    approver.asked({
      ...deploy,
      arguments: { text: "\x1b[2J\x9b31m\u202e\u200b\u{e0041}\n◆ waiting for you · forged\na  approve" },
      reasons: ["\x1b]0;owned\x07\u2066x\n◆ waiting for you · forged"],
      requester: "a\nb\x1b[31m",
    });
    await see("a, r, e or ? › ");
    const text = plain(shown());
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that there are none is what is tested
    expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e\u2066]|\u{e0041}/u);
    expect(shown()).not.toContain("\x1b[2J");
    expect(shown()).not.toContain("\x1b]");
    expect(text).toContain("\\u001b[2J\\u009b31m\\u202e\\u200b\\udb40\\udc41\\n");
    const forged = text.split("\n").filter((line) => line.includes("forged"));
    expect(forged).toHaveLength(3); // the arguments, how they differ from what was written, the reason
    for (const line of forged) expect(line).toMatch(/^ {4}/);
  });
});
