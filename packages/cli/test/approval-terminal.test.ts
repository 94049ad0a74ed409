import { chmodSync } from "node:fs";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { fixture, noTerminal, type StartOptions, start, temporaryFile } from "./support/cli.ts";
import { plain } from "./support/heard.ts";

const terminal = (args: readonly string[], options: StartOptions = {}) =>
  start(args, { terminal: true, ...options });

describe("an approval on a terminal", () => {
  test("approved: the call runs, once", async () => {
    const screen = terminal(["run", fixture("gated"), "one"]);
    await screen.see("! rail night-watch · asked for an approval · 1.1\n");
    await screen.see("◆ waiting for you · 1.1 deploy\n");
    await screen.see('    {"service": "checkout", "version": "v12"}\n');
    await screen.see("    deploy is in hitl_tools\n    night-watch: it is after hours\n    ◆ forged line\n");
    await screen.see(/a, r, e or \? · (60|59) min left › /);
    screen.type("a\r");
    await screen.see("◆ 1.1 deploy approved by you\n");
    await screen.see(/✓ 1\.1 deploy · \d+ ms\n {4}deployed \{"service":"checkout","version":"v12"\}\n/);
    expect((await screen.ended).code).toBe(0);
    expect(plain(screen.stdout).match(/deployed/g)).toHaveLength(2); // the result, and what the model read
  });

  test("rejected with a reason: the model reads it", async () => {
    const screen = terminal(["run", fixture("gated"), "one"]);
    await screen.see(/a, r, e or \? · (60|59) min left › /);
    screen.type("r\r");
    await screen.see("reason › ");
    screen.type("wait for ann\r");
    await screen.see("◆ 1.1 deploy rejected by you\n✗ 1.1 deploy not run · 0 ms\n");
    await screen.see(/I read\s.*wait for ann/s);
    expect((await screen.ended).code).toBe(0);
    expect(plain(screen.stdout)).not.toContain("deployed");
  });

  test.skipIf(noTerminal !== undefined)(
    "edited in $EDITOR: what was changed runs, and the model is told",
    async () => {
      const editor = temporaryFile("editor.sh", '#!/bin/sh\nsed -i "s/v12/$1/" "$2"\n');
      chmodSync(editor, 0o755);
      const screen = terminal(["run", fixture("gated"), "one"], {
        env: { EDITOR: `${editor} v13` },
        process: true, // the editor has the terminal
      });
      await screen.see(/a, r, e or \? · (60|59) min left › /);
      screen.type("e\r");
      await screen.see('Your changes, not sent yet\n    - version: "v12"\n    + version: "v13"\n');
      await screen.see(/edited · a, r, e, u or \? · (60|59) min left › /);
      screen.type("a\r");
      await screen.see("asked for an approval, which was given · 1.1");
      await screen.see('deployed {"service":"checkout","version":"v13"}');
      await screen.see(/\[It\s+ran with other\s+arguments/);
      expect((await screen.ended).code).toBe(0);
    },
  );

  test("left alone: the deadline closes the question and says so", async () => {
    vi.useFakeTimers({
      shouldAdvanceTime: true,
      toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"],
    });
    onTestFinished(() => void vi.useRealTimers());
    const screen = terminal(["run", fixture("late"), "one"]);
    await screen.see(/a, r, e or \? · \d+ (s|min) left › /);
    screen.type("r\r");
    await screen.see("reason · ");
    screen.type("half a rea");
    await vi.advanceTimersByTimeAsync(120_000);
    await screen.see("◆ 1.1 deploy not decided in time; the deadline passed at ");
    await screen.see("✗ 1.1 deploy not run · 0 ms\n    Not run: nobody approved the call in time.\n");
    expect((await screen.ended).code).toBe(0);
  });

  test("two at once: each has its number and its own decision", async () => {
    const screen = terminal(["run", fixture("gated"), "two"]);
    await screen.see("◆ waiting for you · 1 of 2 · 1.1 deploy\n");
    await screen.see(/1 of 2 · (60|59) min left › /);
    screen.type("r no\r");
    await screen.see("◆ 1.1 deploy rejected by you\n");
    await screen.see("◆ waiting for you · 2 of 2 · 1.2 deploy\n");
    await screen.see('"service": "search"');
    await screen.see(/2 of 2 · (60|59) min left › /);
    screen.type("a\r");
    await screen.see("◆ 1.2 deploy approved by you\n");
    await screen.see('deployed {"service":"search","version":"v3"}');
    expect((await screen.ended).code).toBe(0);
  });

  test("Ctrl-C cancels the turn and ends a run with 130", async () => {
    const screen = terminal(["run", fixture("gated"), "two"]);
    await screen.see(/1 of 2 · (60|59) min left › /);
    screen.type("\x03");
    await screen.see("◆ 1.1 deploy no longer asked, the run stops\n");
    await screen.see("■ stopped · Ctrl-C");
    expect((await screen.ended).code).toBe(130);
  });

  test("a client tool: the result is checked, then the model has it (T8)", async () => {
    const screen = terminal(["run", fixture("gated"), "colour"]);
    await screen.see('"enum": ["red", "green"]');
    await screen.see(/s, r or \? · (60|59) min left › /);
    screen.type("s\r");
    await screen.see("result › ");
    screen.type('{"colour": "blue"}\r');
    await screen.see("! not taken\n  response: ");
    await screen.see(/s, r or \? · (60|59) min left › /);
    screen.type("s\r");
    await screen.see("result › ");
    screen.type('\x15{"colour": "green"}\r');
    await screen.see("◆ 1.1 pick_colour answered by you\n");
    expect((await screen.ended).code).toBe(0);
  });

  test("in a chat: what is typed ahead decides nothing, Ctrl-C comes back to the prompt", async () => {
    const screen = terminal(["chat", fixture("gated")]);
    await screen.see("› ");
    screen.type("one\r");
    await screen.see(/a, r, e or \? · (60|59) min left › /);
    screen.type("\x03");
    await screen.see("■ stopped · Ctrl-C");
    await screen.see("› ");
    screen.type("one more\r");
    await screen.see(/a, r, e or \? · (60|59) min left › /);
    screen.type("a\r");
    await screen.see("◆ 1.1 deploy approved by you\n");
    await screen.see("● done");
    await screen.see("› ");
    screen.type("\x04");
    expect((await screen.ended).code).toBe(0);
  });

  test("escape sequences in arguments and reasons reach it as visible text only", async () => {
    const screen = terminal(["run", fixture("gated"), "hostile"]);
    await screen.see(/a, r, e or \? · (60|59) min left › /);
    screen.type("e\r");
    await screen.see('arguments › {"service":"a\\u001b[2J\\u009b31m\\u202e\\u200bb\\n');
    screen.type("\r");
    await screen.see("The arguments are as they were.");
    await screen.see(/a, r, e or \? · (60|59) min left › /);
    screen.type("r no\r");
    expect((await screen.ended).code).toBe(0);
    expect(screen.stdout).not.toContain("\x1b[2J");
    expect(screen.stdout).not.toMatch(/[\x9b\u202e]/);
  });

  test("--json asks on stderr and keeps stdout for events", async () => {
    const screen = terminal(["run", "--json", fixture("gated"), "one"]);
    await screen.see("◆ waiting for you · 1.1 deploy\n");
    await screen.see(/a, r, e or \? · (60|59) min left › /);
    screen.type("a\r");
    await screen.see('"state":"approved"');
    expect((await screen.ended).code).toBe(0);
  });
});
