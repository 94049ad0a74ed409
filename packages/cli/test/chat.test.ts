import { Conversation } from "trackside";
import { describe, expect, test } from "vitest";
import { chatLoop, chatPrompt } from "../src/chat-loop.ts";
import type { Io } from "../src/io.ts";
import { Screen } from "../src/screen/screen.ts";
import type { Ending } from "../src/watch.ts";
import { cli, fixture } from "./support/cli.ts";
import { clockedTerminal, onFakeClock, pass } from "./support/clocked-terminal.ts";

describe("trackside chat with piped lines", () => {
  test("runs one turn for each line, all in one conversation", async () => {
    const { code, stdout } = await cli(["chat", fixture("memory")], { input: "one\ntwo\n\nthree" });
    expect(stdout).toMatch(/› one\n.*Message 1\..*› two\n.*Message 2\..*› three\n.*Message 3\./s);
    expect(code).toBe(0);
  });

  test("goes on after a turn that failed, and says so in the exit code", async () => {
    const { code, stdout } = await cli(["chat", fixture("memory")], { input: "fail\nagain\n" });
    expect(stdout).toMatch(/✗ failed · model_failed.*asked to fail.*› again\n.*Message 2\..*● done/s);
    expect(code).toBe(1);
  });

  test("/new forgets, /help explains, /quit leaves", async () => {
    const { code, stdout } = await cli(["chat", fixture("memory")], {
      input: "one\n/new\ntwo\n/help\n/nonsense\n/quit\nthree\n",
    });
    expect(stdout.match(/Message \d\./g)).toEqual(["Message 1.", "Message 1."]);
    expect(stdout).toContain("/new   starts a new conversation");
    expect(stdout).toContain("There is no command /nonsense. /help lists them.");
    expect(stdout).not.toContain("three");
    expect(code).toBe(0);
  });

  test("--json keeps stdout for events", async () => {
    const { code, stdout, stderr } = await cli(["chat", "--json", fixture("memory")], {
      input: "one\ntwo\n",
    });
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.filter(({ status }) => status === "completed")).toHaveLength(2);
    expect(stderr).toContain("› two");
    expect(code).toBe(0);
  });
});

function chatOn({ io }: { io: Io }, endings: readonly Ending[] = []) {
  const turns: { message: string; conversation: Conversation | undefined }[] = [];
  const screen = new Screen(io.stdout, io.env);
  const ended = chatLoop({
    prompt: chatPrompt(io, io.stdout, screen),
    screen,
    async turn(message, conversation) {
      turns.push({ message, conversation });
      return endings[turns.length - 1] ?? { exitCode: 0, conversation };
    },
  });
  return { turns, ended };
}

describe("the chat loop on a terminal", () => {
  onFakeClock();

  test("hands each turn the conversation of the one before, also after a failure", async () => {
    const terminal = clockedTerminal();
    const conversation = new Conversation();
    const { turns, ended } = chatOn(terminal, [
      { exitCode: 1, conversation },
      { exitCode: 2, conversation: undefined },
    ]);
    for (const line of ["one\r", "two\r", "three\r", "\x04"]) {
      await pass();
      terminal.type(line);
    }
    expect(await ended).toBe(0);
    expect(turns).toEqual([
      { message: "one", conversation: undefined },
      { message: "two", conversation },
      { message: "three", conversation },
    ]);
  });

  test("gives the terminal back during a turn, so that Ctrl-C is a signal there", async () => {
    const terminal = clockedTerminal();
    const rawInTurn: (boolean | undefined)[] = [];
    const screen = new Screen(terminal.io.stdout, {});
    const ended = chatLoop({
      prompt: chatPrompt(terminal.io, terminal.io.stdout, screen),
      screen,
      async turn() {
        rawInTurn.push(terminal.raw.at(-1));
        return { exitCode: 130, conversation: undefined };
      },
    });
    await pass();
    expect(terminal.raw.at(-1)).toBe(true);
    terminal.type("go\r");
    await pass();
    expect(rawInTurn).toEqual([false]);
    expect(terminal.raw.at(-1)).toBe(true);
    terminal.type("\x04");
    expect(await ended).toBe(0);
  });

  test("takes pasted lines as one message", async () => {
    const terminal = clockedTerminal();
    const { turns, ended } = chatOn(terminal);
    await pass();
    terminal.type("first line\rsecond line\rthird ");
    await pass();
    expect(turns).toEqual([]);
    terminal.type("line\r");
    await pass();
    terminal.type("\x04");
    await ended;
    expect(turns.map(({ message }) => message)).toEqual(["first line\nsecond line\nthird line"]);
  });

  test("leaves at the second Ctrl-C on an empty line; the first on a full one only clears it", async () => {
    const terminal = clockedTerminal();
    const { turns, ended } = chatOn(terminal);
    await pass();
    terminal.type("never sent\x03");
    await pass();
    expect(terminal.shown()).not.toContain("leaves");
    terminal.type("\x03");
    await pass();
    expect(terminal.shown()).toContain("Ctrl-C again or Ctrl-D leaves.");
    terminal.type("\x03");
    expect(await ended).toBe(0);
    expect(turns).toEqual([]);
  });
});
