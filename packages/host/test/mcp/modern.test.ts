import { createMcpHandler } from "@modelcontextprotocol/server";
import type { ServerDefinition } from "trackside/engine";
import { describe, expect, type TestContext, test, vi } from "vitest";
import { wordsOf } from "./support/expecting.ts";
import { answerWith, listening } from "./support/http-server.ts";
import { modernServer } from "./support/modern-server.ts";
import { Place } from "./support/place.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Servers that speak the 2026 era and nothing else: no sessions, no `initialize`, questions inside of results. */
const overStdio = (place: Place): ServerDefinition => place.fake("modern", "modern", place.file("notices"));

const overHttp = async (place: Place, { onTestFinished }: TestContext): Promise<ServerDefinition> => {
  const handler = createMcpHandler(() => modernServer(place.file("notices")), { legacy: "reject" });
  const server = await listening((request, response) =>
    answerWith((asked) => handler.fetch(asked), request, response),
  );
  onTestFinished(async () => {
    await handler.close();
    await server.close();
  });
  return { name: "modern", url: server.url };
};

describe.concurrent.each([
  ["stdio", overStdio],
  ["Streamable HTTP", overHttp],
] as const)("M1 a server of the 2026 era over %s", (_, setup) => {
  const connect = async (context: TestContext) => {
    const place = new Place(context);
    return { place, session: await place.connect(await setup(place, context)) };
  };

  test("is understood", async (context) => {
    const { session } = await connect(context);
    expect(session.names).toEqual(
      ["add", "ask", "steps", "until-cancelled"].map((name) => `mcp__modern__${name}`),
    );
    expect(wordsOf(await session.call("modern__add", { a: 2, b: 3 }))).toContain("5");
  });

  test("M2 reports progress in order, before the result, with fractions", async (context) => {
    const { session } = await connect(context);
    for (let i = 0; i < 5; i++) {
      const call = session.start("modern__steps");
      const seen = await call.result.then(() => [...call.happened]);
      expect(seen).toEqual([0.25, 1 / 3, 0.5, 1].map((progress) => ({ progress, total: 1 })));
    }
  });

  test("asks inside of a result, and hears the answer", async (context) => {
    const { session } = await connect(context);
    const call = session.start(
      "modern__ask",
      {},
      { answer: () => ({ action: "accept", content: { city: "Lima" } }) },
    );
    expect(wordsOf(await call.result)).toContain("Lima");
    expect(call.happened).toMatchObject([{ asked: { message: expect.stringContaining("Which city?") } }]);
    const declined = session.call("modern__ask", {}, { answer: () => ({ action: "decline" }) });
    expect(wordsOf(await declined)).toContain("nobody said");
  });

  test("M3 X5 hears of a cancelled call", async (context) => {
    const { place, session } = await connect(context);
    const call = session.start("modern__until-cancelled", {}, { onProgress: () => call.cancel() });
    await expect(call.result).rejects.toThrow();
    await vi.waitFor(() => expect(place.lines("notices")).toEqual(["cancelled"]), { timeout: 50_000 });
    expect(wordsOf(await session.call("modern__add", { a: 1, b: 1 }))).toContain("2");
  });
});
