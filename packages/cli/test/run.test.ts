import { durableEvent, liveEvent } from "trackside/schema";
import { afterEach, describe, expect, test } from "vitest";
import { type ChatServer, startChatServer, toolCall } from "./support/chat-server.ts";
import { cli, fixture, start } from "./support/cli.ts";

interface EventLine {
  type: string;
  status?: string;
  text?: string;
  reason?: string;
}

/** Every line of stdout as an event that the wire contract knows. */
function eventsOf(stdout: string): EventLine[] {
  expect(stdout.endsWith("\n")).toBe(true);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => {
      const event = JSON.parse(line);
      const schema = "seq" in event ? durableEvent : liveEvent;
      expect(schema.safeParse(event).error).toBeUndefined();
      return event;
    });
}

const terminalStatus = ({ type, status = "" }: EventLine) =>
  type === "status" && ["completed", "error", "cancelled"].includes(status);

describe("trackside run", () => {
  test("shows text, calls with arguments, results with durations, and how it ended", async () => {
    const { code, stdout } = await cli(["run", fixture("calculator"), "What is 2 + 3?"]);
    expect(stdout).toContain("calculator on scripted:scripted");
    expect(stdout).toContain("  I add.");
    expect(stdout).toContain('→ 1.1 add {"a": 2, "b": 3}');
    expect(stdout).toMatch(/✓ 1\.1 add · \d+ ms\n {4}5\n/);
    expect(stdout).toContain("step 2\n  2 + 3 is 5.\n");
    expect(stdout).toMatch(/\n● done · answered · 2 steps · 20 tokens in, 10 out · (\d+ ms|\d+\.\d s)\n$/);
    expect(code).toBe(0);
  });

  test("shows no warning of Node about running TypeScript", async () => {
    const { stderr, code } = await cli(["run", fixture("calculator"), "What is 2 + 3?"], { process: true });
    expect(stderr).toBe("");
    expect(code).toBe(0);
  });

  test("--json prints events that fit the contract and ends with the one terminal status (E2)", async () => {
    const asked = ["run", "--json", fixture("calculator"), "What is 2 + 3?"];
    const { code, stdout, stderr } = await cli(asked, { process: true });
    const events = eventsOf(stdout);
    expect(events[0]).toMatchObject({ type: "status", status: "starting", seq: 1 });
    expect(events.filter(terminalStatus)).toEqual([events.at(-1)]);
    expect(events.at(-1)).toMatchObject({ status: "completed", stop_reason: "answered" });
    expect(events.map(({ type }) => type)).toContain("text_delta");
    expect(stderr).toContain("a tool that prints");
    expect(code).toBe(0);
  });

  test.each([["-"], []])("reads the input from stdin %s", async (...dash) => {
    const { code, stdout } = await cli(["run", fixture("memory"), ...dash], { input: "from a pipe\n" });
    expect(stdout).toContain("Message 1.");
    expect(code).toBe(0);
  });

  test("refuses an empty input", async () => {
    const { code, stderr } = await cli(["run", fixture("memory")], { input: " \n" });
    expect(stderr).toMatch(/^The input is empty\./);
    expect(code).toBe(2);
  });

  test("exits 1 when the run fails, and says why", async () => {
    const { code, stdout } = await cli(["run", fixture("failing"), "go"]);
    expect(stdout).toContain("✗ failed · model_failed · 1 step");
    expect(stdout).toContain("the model went away");
    expect(code).toBe(1);
  });

  test("exits 2 when the run is refused for what its definition says", async () => {
    const { code, stdout } = await cli(["run", "--json", fixture("alone"), "go"]);
    expect(eventsOf(stdout)).toMatchObject([{ status: "error", failure: { code: "not_available" } }]);
    expect(code).toBe(2);
  });

  test("a reader that goes away ends it without a stack", async () => {
    const running = start(["run", "--json", fixture("slow"), "go"], {
      env: { KEEP_TELLING: "1" },
      process: true,
    });
    await running.see("\n");
    running.hangUp();
    const { code, stderr } = await running.ended;
    expect(stderr).toBe("");
    expect(code).toBe(141);
  });
});

describe("what models and tools say", () => {
  test("cannot send escape sequences to the terminal", async () => {
    const { code, stdout } = await cli(["run", fixture("hostile"), "go"]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that there are none is what is tested
    expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
    expect(stdout).toContain("safe␛[2J␛]0;owned␇␛[31m\\u009b31mover\\u202egnp.exe");
    expect(code).toBe(0);
  });

  test("cannot pass for a line of ours", async () => {
    const { stdout } = await cli(["run", fixture("hostile"), "go"]);
    const forged = stdout.split("\n").filter((line) => line.includes("forged"));
    expect(forged).toHaveLength(5);
    expect(forged.filter((line) => !line.startsWith("  "))).toEqual([
      "→ 1.2 no␛[2Jtool ✓ 8.8 forged {}",
      "✗ 1.2 no␛[2Jtool ✓ 8.8 forged failed · 0 ms",
    ]);
  });

  test("reaches --json whole, on one line, with nothing a terminal acts on", async () => {
    const { stdout } = await cli(["run", "--json", fixture("hostile"), "go"]);
    const answer = eventsOf(stdout).findLast(({ type }) => type === "text");
    expect(answer?.text).toContain("safe\x1b[2J\x1b]0;owned\x07\x1b[31m\x9b31m\rover\u202egnp.exe");
    expect(stdout).not.toContain("\x9b");
  });
});

describe("Ctrl-C", () => {
  test("cancels the run, waits for its last event and exits 130", async () => {
    const running = start(["run", "--json", fixture("slow"), "go"], { process: true });
    await running.see("mcp_progress");
    running.signal("SIGINT");
    const { code, stdout } = await running.ended;
    const events = eventsOf(stdout);
    expect(events.filter(terminalStatus)).toEqual([events.at(-1)]);
    expect(events.at(-1)).toMatchObject({ status: "cancelled", reason: "Ctrl-C" });
    expect(code).toBe(130);
  });

  test("SIGTERM does the same and exits 143", async () => {
    const running = start(["run", "--json", fixture("slow"), "go"]);
    await running.see('"tool_call"');
    running.signal("SIGTERM");
    const { code, stdout } = await running.ended;
    expect(eventsOf(stdout).at(-1)).toMatchObject({ status: "cancelled", reason: "SIGTERM" });
    expect(code).toBe(143);
  });

  test("is told to a person", async () => {
    const running = start(["run", fixture("slow"), "go"], { env: { TELL_AT_WORK: "1" } });
    await running.see("wait at work"); // the line of the call is printed before
    running.signal("SIGINT");
    const { code, stdout } = await running.ended;
    expect(stdout).toMatch(/✗ 1\.1 wait stopped · /);
    expect(stdout).toContain("■ stopped · Ctrl-C · 1 step");
    expect(code).toBe(130);
  });

  test("twice ends the process at once, even when a tool does not let go", async () => {
    const running = start(["run", fixture("stubborn"), "go"], { process: true });
    await running.see("stubborn at work");
    running.signal("SIGINT");
    await running.see("stubborn stays");
    running.signal("SIGINT");
    expect((await running.ended).code).toBe(130);
  });
});

describe("a definition as JSON", () => {
  let server: ChatServer | undefined;
  afterEach(() => server?.close());

  test("runs with its tools on a local OpenAI-compatible server", async () => {
    server = await startChatServer("qwen3:4b", [
      [toolCall("ping", {})],
      [{ content: "It said " }, { content: "pong." }],
    ]);
    const { code, stdout } = await cli(
      ["run", fixture("pinger"), "--tools", fixture("tools"), "--json", "Ping it"],
      { env: { OLLAMA_BASE_URL: server.baseUrl } },
    );
    const events = eventsOf(stdout);
    expect(events).toContainEqual(
      expect.objectContaining({ type: "tool_result", tool: "ping", success: true }),
    );
    expect(events.findLast(({ type }) => type === "text")?.text).toBe("It said pong.");
    expect(server.requests.map(({ model }) => model)).toEqual(["qwen3:4b", "qwen3:4b"]);
    expect(server.requests[1]?.messages.at(-1)).toMatchObject({ role: "tool", content: "pong" });
    expect(code).toBe(0);
  });

  test("--model takes the place of its model", async () => {
    server = await startChatServer("other:1b", [[{ content: "Hello." }]]);
    const { code, stdout } = await cli(
      ["run", fixture("pinger"), "--tools", fixture("tools"), "--model", "lmstudio:other:1b", "Hi"],
      { env: { LMSTUDIO_BASE_URL: server.baseUrl } },
    );
    expect(stdout).toContain("pinger on lmstudio:other:1b");
    expect(server.requests[0]?.model).toBe("other:1b");
    expect(code).toBe(0);
  });

  test("--model takes the place of a model in code, and keeps the tools", async () => {
    server = await startChatServer("other:1b", [[toolCall("add", { a: 1, b: 1 })], [{ content: "Two." }]]);
    const { code, stdout } = await cli(
      ["run", fixture("calculator"), "--model", "ollama:other:1b", "1 + 1?"],
      {
        env: { OLLAMA_BASE_URL: server.baseUrl },
      },
    );
    expect(stdout).toMatch(/✓ 1\.1 add · \d+ ms\n {4}2\n/);
    expect(stdout).toContain("  Two.");
    expect(code).toBe(0);
  });
});
