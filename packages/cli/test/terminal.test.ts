import { describe, expect, test } from "vitest";
import { startChatServer } from "./support/chat-server.ts";
import { fixture, noTerminal, type StartOptions, start } from "./support/cli.ts";
import { plain } from "./support/heard.ts";

if (noTerminal) console.log(`tests on a real terminal are skipped: ${noTerminal}`);

const terminal = (args: readonly string[], options: StartOptions = {}) =>
  start(args, { terminal: true, ...options });

describe("on a terminal", () => {
  test.skipIf(noTerminal !== undefined)(
    "chat without an agent opens a demo that remembers what was said and asks before it acts; Ctrl-D leaves with 0",
    async () => {
      const screen = terminal(["chat"], { process: true });
      await screen.see("The model is a scripted demo, not an AI");
      await screen.see("Why is checkout slow?");
      await screen.see("› ");
      screen.type("is anything wrong?\r");
      await screen.see("→ 1.1 service_status {}");
      await screen.see("→ 2.3 recent_deploys");
      await screen.see("! rail no-addresses · noticed · 2.3");
      await screen.see("Shall I open an incident for checkout?");
      await screen.see("● done · answered · 3 steps");
      await screen.see("› ");
      screen.type("yes\r");
      await screen.see("◆ waiting for you · 1.1 open_incident");
      await screen.see('"service": "checkout"');
      await screen.see(/a, r, e or \? · (60|59) min left › /);
      screen.type("a\r");
      await screen.see("◆ 1.1 open_incident approved by you");
      await screen.see("I opened INC-101 for checkout");
      await screen.see("› ");
      screen.type("\x04");
      expect((await screen.ended).code).toBe(0);
      expect(screen.stdout).toContain("\x1b[36m→\x1b[39m");
    },
  );

  test("NO_COLOR takes the colours away", async () => {
    const screen = terminal(["run", fixture("calculator"), "2 + 3?"], { env: { NO_COLOR: "1" } });
    await screen.see("● done");
    expect((await screen.ended).code).toBe(0);
    expect(screen.stdout).not.toContain("\x1b[3");
    expect(screen.stdout).not.toContain("\x1b[1m");
  });

  test.skipIf(noTerminal !== undefined)(
    "Ctrl-C stops the turn and comes back to the prompt; there, twice leaves",
    async () => {
      const screen = terminal(["chat", fixture("slow")], { process: true });
      await screen.see("› ");
      screen.type("go\r");
      await screen.see(/running wait: 1 of 10, waiting · \d+ s/);
      screen.type("\x03");
      await screen.see("✗ 1.1 wait stopped");
      await screen.see("■ stopped · Ctrl-C");
      await screen.see("› ");
      screen.type("go on\r");
      await screen.see("Done.");
      await screen.see("› ");
      screen.type("\x03");
      await screen.see("Ctrl-C again or Ctrl-D leaves.");
      screen.type("\x03");
      expect((await screen.ended).code).toBe(0);
    },
  );

  test("Ctrl-C ends a run with 130", async () => {
    const screen = terminal(["run", fixture("slow"), "go"]);
    await screen.see("→ 1.1 wait");
    screen.type("\x03");
    await screen.see("■ stopped · Ctrl-C");
    expect((await screen.ended).code).toBe(130);
  });

  test("escape sequences of a model reach it as visible text only", async () => {
    const screen = terminal(["run", fixture("hostile"), "go"]);
    await screen.see("● done");
    await screen.ended;
    expect(screen.stdout).not.toContain("\x1b[2J");
    expect(screen.stdout).not.toContain("\x1b]0;");
    expect(plain(screen.stdout)).toContain("␛[2J");
  });

  test("a model server on this machine is offered, and answers when picked", async () => {
    const server = await startChatServer("gemma3:4b", [[{ content: "All is well here." }]]);
    try {
      const screen = terminal(["chat"], { env: { OLLAMA_BASE_URL: server.baseUrl } });
      await screen.see("Which model should answer?");
      await screen.see("1      ollama:gemma3:4b");
      await screen.see("› ");
      screen.type("1\r");
      await screen.see("The model is ollama:gemma3:4b, on this machine.");
      await screen.see("› ");
      screen.type("hello\r");
      await screen.see("All is well here.");
      await screen.see("› ");
      screen.type("\x04");
      expect((await screen.ended).code).toBe(0);
    } finally {
      server.close();
    }
  });
});
