import { describe, expect, type TestContext, test, vi } from "vitest";
import { type HttpFake, httpFake } from "./fakes/http.ts";
import { othersGoOn, sentenceOf, wordsOf, worksAgain } from "./support/expecting.ts";
import { listening } from "./support/http-server.ts";
import { Place, type Session } from "./support/place.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

interface Setting {
  readonly place: Place;
  readonly fake: HttpFake;
  readonly session: Session;
}

async function setting(
  context: TestContext,
  options?: ConstructorParameters<typeof Place>[1],
): Promise<Setting> {
  const place = new Place(context, options);
  const fake = await httpFake();
  context.onTestFinished(() => fake.close());
  const session = await place.connect({ name: "web", url: fake.url }, place.fake("good"));
  return { place, fake, session };
}

describe.concurrent("M4 a server on the web", () => {
  test("works", async (context) => {
    const { session } = await setting(context);
    expect(wordsOf(await session.call("web__add", { a: 2, b: 3 }))).toContain("5");
    const call = session.start("web__echo");
    expect(wordsOf(await call.result)).toContain("over http");
    expect(call.happened).toEqual([{ progress: 0.5 }]);
  });

  test.for([
    "fails",
    "html",
    "not-json",
    "hangs",
    "silent-stream",
    "drops",
    "truncated",
    "redirects",
    "busy",
    "endless",
    "huge",
  ])("whose answer is wrong (%s) fails that call alone", async (tool, context) => {
    const { session } = await setting(context, {
      deadlines: { idleMs: 15_000, totalMs: 30_000 },
      maxMessageBytes: 16 << 20,
    });
    const call = session.start(`web__${tool}`);
    await othersGoOn(session, call.result);
    await sentenceOf(call, "web", tool);
    await worksAgain(session, "web__echo", "over http");
  });

  test("that forgot its sessions gets a new one", async (context) => {
    const { session, fake } = await setting(context);
    fake.forget();
    await worksAgain(session, "web__echo", "over http");
    expect(fake.heard.filter((method) => method === "initialize").length).toBe(2);
  });

  test("that goes away and comes back on the same port is found again", async (context) => {
    const { session, fake } = await setting(context);
    await fake.close();
    const call = session.start("web__echo");
    await othersGoOn(session, call.result);
    await sentenceOf(call, "web", "echo");
    const again = await httpFake(fake.port);
    context.onTestFinished(() => again.close());
    await worksAgain(session, "web__echo", "over http");
  });

  test("that is not there: connecting says which and where, without its headers", async (context) => {
    const place = new Place(context, { secrets: async () => "s3cret-token" });
    const gone = await listening(() => undefined);
    await gone.close();
    const server = { name: "web", url: gone.url, headers: { authorization: { secret: "token" } } };
    const error = await place.connect(server).then(
      () => expect.unreachable(),
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ code: "mcp_unavailable", message: expect.stringMatching(/web/) });
    expect(String(error)).not.toContain("s3cret-token");
  });

  test("that is no MCP server at all: connecting says so", async (context) => {
    const place = new Place(context);
    const site = await listening((_, response) =>
      response.writeHead(200, { "content-type": "text/html" }).end("<h1>Hello</h1>"),
    );
    context.onTestFinished(() => site.close());
    await expect(place.connect({ name: "site", url: site.url })).rejects.toMatchObject({
      code: "mcp_unavailable",
      message: expect.stringMatching(/site/),
    });
  });

  test("that wants a key: connecting says so, with what it answered", async (context) => {
    const place = new Place(context);
    const site = await listening((_, response) =>
      response.writeHead(401, { "content-type": "application/json" }).end('{"error":"who are you?"}'),
    );
    context.onTestFinished(() => site.close());
    await expect(place.connect({ name: "locked", url: site.url })).rejects.toMatchObject({
      code: "mcp_unavailable",
      message: expect.stringMatching(/locked.*(401|[Uu]nauthori[sz]ed)/s),
    });
  });

  test("that never answers: connecting fails at the deadline", async (context) => {
    const place = new Place(context, { deadlines: { connectMs: 2_000 } });
    const site = await listening(() => undefined);
    context.onTestFinished(() => site.close());
    await expect(place.connect({ name: "site", url: site.url })).rejects.toMatchObject({
      code: "mcp_unavailable",
      message: expect.stringMatching(/site/),
    });
  });

  test("gets the headers of its definition with secrets filled in, and is told when we leave", async (context) => {
    const place = new Place(context, { secrets: async (name) => `value of ${name}` });
    const fake = await httpFake();
    context.onTestFinished(() => fake.close());
    const headers = { "x-plain": "here", authorization: { secret: "token" } };
    const session = await place.connect({ name: "web", url: fake.url, headers });
    await session.call("web__echo");
    expect(fake.headers()).toMatchObject({ "x-plain": "here", authorization: "value of token" });
    session.connected.release();
    await place.hub.close();
    expect(fake.heard.at(-1)).toBe("DELETE");
  });

  test("M3 hears of a cancelled call", async (context) => {
    const { session, fake } = await setting(context);
    const call = session.start("web__busy", {}, { onProgress: () => call.cancel() });
    await expect(call.result).rejects.toThrow();
    await vi.waitFor(() => expect(fake.heard).toContain("notifications/cancelled"), { timeout: 50_000 });
  });
});
