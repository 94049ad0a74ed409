import { createServer } from "node:net";
import { Agent, type AgentEvent, type EngineOptions, localEngine, RunError } from "trackside";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { PROVIDERS } from "../../src/local/providers/table.ts";
import { OVER_WIRE } from "../support/over-wire.ts";
import { startWireServer, type WireServer, wires } from "../support/wire-server.ts";
import { expectSound, textsOf } from "./soundness.ts";
import { bounded, HURRIED } from "./stage.ts";

const ANSWER = "At your service.";
const FALLBACK = "anthropic:second";

/** Another provider, ready to answer: nobody may ask it unless they were told to. */
let other: WireServer;
beforeEach(async () => {
  for (const name of ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"])
    vi.stubEnv(name, undefined);
  other = await startWireServer(() => ({ events: wires.anthropic.text(ANSWER) }));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await other.close();
});

async function run(model: string, providers: EngineOptions["providers"] = {}, fallbackModels: string[] = []) {
  const elsewhere = { anthropic: { baseUrl: `${other.origin}/v1`, apiKey: "test-key" } };
  const engine = localEngine({ providers: { ...elsewhere, ...providers }, retry: HURRIED });
  const stream = new Agent({ name: "clerk", model, fallbackModels }).stream("hello", { engine });
  const events: AgentEvent[] = [];
  const reading = (async () => {
    for await (const event of stream) events.push(event);
  })();
  await bounded(reading, model);
  expectSound({ events }, model);
  return stream.result.then(
    (result) => ({ events, result, error: undefined }),
    (error: RunError) => ({ events, result: undefined, error }),
  );
}

describe.each(OVER_WIRE.filter(({ provider }) => provider !== "anthropic"))(
  "a bad endpoint for $provider",
  (over) => {
    const at = (baseUrl: string) => ({ [over.provider]: { baseUrl, apiKey: "test-key" } });

    test("X8 nothing listens there: the error names the place and what to do, and nobody else is asked", async () => {
      const gone = await startWireServer([]);
      await gone.close();
      const { error } = await run(`${over.provider}:first`, at(`${gone.origin}/v1`));
      expect(error).toBeInstanceOf(RunError);
      expect(error?.code).toBe("model_failed");
      expect(error?.message).toContain(`cannot reach ${gone.origin}: connection refused`);
      expect(error?.message).toMatch(/Start the server there, or set the provider's base URL/);
      expect(other.count).toBe(0);
    });

    test("X8 the host does not exist", async () => {
      const { error } = await run(`${over.provider}:first`, at("http://nothing-here.invalid/v1"));
      expect(error?.code).toBe("model_failed");
      expect(error?.message).toContain("http://nothing-here.invalid");
      expect(other.count).toBe(0);
    });

    test("X8 a server is there, but not at this path", async () => {
      await using server = await startWireServer(() => ({ status: 404 }));
      const { error } = await run(`${over.provider}:first`, at(`${server.origin}/v2`));
      expect(error?.code).toBe("model_failed");
      expect(error?.message).toContain(`${server.origin}/v2/`);
      expect(error?.message).toContain("Check the provider's base URL");
      expect(server.count).toBe(1);
      expect(other.count).toBe(0);
    });

    test("X8 a server is there that does not speak HTTP", async () => {
      const server = createServer((socket) => socket.on("error", () => {}).end("220 mail.example ready\r\n"));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const address = server.address();
      const origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
      const { error } = await run(`${over.provider}:first`, at(`${origin}/v1`));
      server.close();
      expect(error?.code).toBe("model_failed");
      expect(error?.message).toContain(origin);
      expect(other.count).toBe(0);
    });
  },
);

describe("a provider that is not set up", () => {
  test("A6 without a key the run fails with model_unavailable and says which to set", async () => {
    const { error, events } = await run("openai:first");
    expect(error).toBeInstanceOf(RunError);
    expect(error?.code).toBe("model_unavailable");
    expect(error?.message).toContain("Set OPENAI_API_KEY in the environment");
    expect(events.at(-1)).toMatchObject({ status: "error", failure: { code: "model_unavailable" } });
    expect(other.count).toBe(0);
  });

  test("A6 without its package the run fails with model_unavailable and says what to install", async () => {
    const { package: name } = PROVIDERS.mistral;
    Object.assign(PROVIDERS.mistral, { package: "@trackside-test/absent" }); // a row that no package answers to
    try {
      const { error } = await run("mistral:first", { mistral: { apiKey: "test-key" } });
      expect(error?.code).toBe("model_unavailable");
      expect(error?.message).toContain("Run: npm install @trackside-test/absent");
      expect(other.count).toBe(0);
    } finally {
      Object.assign(PROVIDERS.mistral, { package: name });
    }
  });

  test("A6 the next run finds the key that was set in between", async () => {
    const engine = localEngine({ providers: { anthropic: { baseUrl: `${other.origin}/v1` } } });
    const agent = new Agent({ name: "clerk", model: FALLBACK });
    await expect(agent.run("hello", { engine })).rejects.toMatchObject({ code: "model_unavailable" });
    vi.stubEnv("ANTHROPIC_API_KEY", "test-key");
    expect((await agent.run("hello", { engine })).output).toBe(ANSWER);
  });
});

describe("fallback models", () => {
  const overloaded = { status: 529, body: wires.openaiResponses.errorBody("overloaded") };

  test("X8 are not used unless they are given", async () => {
    await using first = await startWireServer([overloaded], { repeatLast: true });
    const { error } = await run("openai:first", {
      openai: { baseUrl: `${first.origin}/v1`, apiKey: "test-key" },
    });
    expect(error?.code).toBe("model_failed");
    expect(first.count).toBe(1 + HURRIED.retries);
    expect(other.count).toBe(0);
  });

  test("X8 are tried in order, visibly, each after the retries of the one before", async () => {
    await using first = await startWireServer([overloaded], { repeatLast: true });
    await using second = await startWireServer([
      { status: 400, body: { error: { message: "no such option" } } },
    ]);
    const providers = {
      openai: { baseUrl: `${first.origin}/v1`, apiKey: "test-key" },
      "openai-compatible": { baseUrl: `${second.origin}/v1` },
    };
    const { result, events } = await run("openai:first", providers, ["openai-compatible:second", FALLBACK]);
    expect(result?.output).toBe(ANSWER);
    expect([first.count, second.count, other.count]).toEqual([1 + HURRIED.retries, 1, 1]);
    const failed = events.flatMap((event) => (event.type === "error" ? [event.failure.details?.model] : []));
    expect(failed).toEqual([...Array(1 + HURRIED.retries).fill("openai:first"), "openai-compatible:second"]);
    expect(events.find((event) => event.type === "usage")).toMatchObject({ model: FALLBACK });
  });

  test("X8 an endpoint that is not there, and a wait above 60 s, are reasons to fall back", async () => {
    const gone = await startWireServer([]);
    await gone.close();
    const unreachable = { openai: { baseUrl: `${gone.origin}/v1`, apiKey: "test-key" } };
    expect((await run("openai:first", unreachable, [FALLBACK])).result?.output).toBe(ANSWER);

    await using busy = await startWireServer([{ ...overloaded, headers: { "retry-after": "3600" } }]);
    const patient = { openai: { baseUrl: `${busy.origin}/v1`, apiKey: "test-key" } };
    expect((await run("openai:first", patient, [FALLBACK])).result?.output).toBe(ANSWER);
    expect(other.count).toBe(2);
  });

  test("X8 are not tried once something was shown", async () => {
    const events = wires.openaiResponses.text("half of it");
    await using first = await startWireServer([{ events, cutAfterEvents: events.length - 3 }]);
    const providers = { openai: { baseUrl: `${first.origin}/v1`, apiKey: "test-key" } };
    const failed = await run("openai:first", providers, [FALLBACK]);
    expect(failed.error?.code).toBe("model_failed");
    expect(textsOf(failed.events)).toEqual([{ text: "half of it", partial: true }]);
    expect(other.count).toBe(0);
  });
});
