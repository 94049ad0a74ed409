import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ChatServer, startChatServer } from "./support/chat-server.ts";
import { cli, noServer } from "./support/cli.ts";

describe("trackside chat without an agent and a terminal", () => {
  test("shows two turns of the scripted demo, a rail and an approval among them, and exits 0", async () => {
    const { code, stdout, stderr } = await cli(["chat"]);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout).toContain("The model is a scripted demo, not an AI");
    expect(stdout).toContain("› Is anything wrong right now?");
    expect(stdout).toContain("→ 1.1 service_status {}");
    expect(stdout).toContain('→ 2.2 error_rate {"service": "payments"}');
    expect(stdout).toMatch(/✓ 2\.3 recent_deploys · \d+ ms/);
    expect(stdout).toContain("The likely cause is deploy d-481");
    expect(stdout).toMatch(/● done · answered · 3 steps · [\d,]+ tokens in, \d+ out · /);
    expect(stdout).toContain("! rail no-addresses · noticed · 2.3\n  took an e-mail address out of");
    expect(stdout).toContain("› Open an incident for checkout");
    expect(stdout).toContain("◆ needs approval · 1.1 open_incident\n");
    expect(stdout).toContain("◆ 1.1 open_incident rejected by the demo\n");
    expect(stdout.replaceAll(/\s+/g, " ")).toContain(
      "The demo rejected the incident by itself, because nobody is at a terminal.",
    );
    expect(stdout).not.toContain("\x1b");
  });

  test("with a key says which model answers and why, and never falls back to the demo", async () => {
    const env = { OPENAI_API_KEY: "key", ANTHROPIC_API_KEY: "key", OPENAI_BASE_URL: noServer };
    const { code, stdout } = await cli(["chat"], { env });
    expect(stdout).toMatch(/The model is openai:\S+, because OPENAI_API_KEY is set\./);
    expect(stdout.replaceAll(/\s+/g, " ")).toMatch(
      /ANTHROPIC_API_KEY is set too: --model anthropic:\S+ would use it/,
    );
    expect(stdout).not.toContain("scripted");
    expect(stdout).toContain("✗ failed · model_failed");
    expect(code).toBe(1);
  });

  test("with a model that lacks its key ends before the first question, saying what to set", async () => {
    const { code, stdout, stderr } = await cli(["chat", "--model", "anthropic:claude-haiku-5-5"]);
    expect(stderr).toContain("ANTHROPIC_API_KEY");
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });

  test("refuses a model string that names no known provider", async () => {
    const { code, stderr } = await cli(["chat", "--model", "gpt-4o"]);
    expect(stderr).toContain('--model: the model string "gpt-4o" has no provider in front of a colon');
    expect(code).toBe(2);
  });
});

describe("trackside chat beside a model server on this machine", () => {
  let server: ChatServer;
  beforeAll(async () => {
    server = await startChatServer("mistral:7b", [[{ content: "All is " }, { content: "well." }]]);
  });
  afterAll(() => server.close());

  test("mentions it, and stays with the demo as long as nobody chose", async () => {
    const { code, stdout } = await cli(["chat"], { env: { OLLAMA_BASE_URL: server.baseUrl } });
    expect(stdout.replaceAll(/\s+/g, " ")).toContain(
      "A model server runs on this machine: --model ollama:mistral:7b would use it.",
    );
    expect(stdout).toContain("scripted demo, not an AI");
    expect(server.requests).toEqual([]);
    expect(code).toBe(0);
  });

  test("runs the same agent on it with --model", async () => {
    const { code, stdout } = await cli(["chat", "--model", "ollama:mistral:7b"], {
      env: { OLLAMA_BASE_URL: server.baseUrl },
    });
    expect(stdout).toContain("The model is ollama:mistral:7b, as asked for with --model.");
    expect(stdout).toContain("All is well.");
    expect(server.requests[0]?.tools).toHaveLength(4);
    expect(code).toBe(0);
  });
});
