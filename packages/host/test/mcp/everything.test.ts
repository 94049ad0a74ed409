import { ToolFile } from "trackside";
import { describe, expect, type TestContext, test, vi } from "vitest";
import { type Everything, overHttp, overStdio } from "./support/everything.ts";
import { sentenceOf, wordsOf } from "./support/expecting.ts";
import { Place, type Session } from "./support/place.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

type Setup = (place: Place, context: TestContext) => Everything | Promise<Everything>;

const DOCUMENT = "demo://resource/static/document/architecture.md";

const TRANSPORTS: [string, Setup][] = [
  ["stdio", overStdio],
  ["Streamable HTTP", overHttp],
];

describe.concurrent.each(TRANSPORTS)("M1 server-everything over %s", (_, setup) => {
  const connect = async (context: TestContext): Promise<{ place: Place; session: Session } & Everything> => {
    const place = new Place(context);
    const everything = await setup(place, context);
    return { place, session: await place.connect(everything.server), ...everything };
  };

  test("offers its tools", async (context) => {
    const { session } = await connect(context);
    for (const tool of ["echo", "get-sum", "get-tiny-image", "trigger-long-running-operation"])
      expect(session.names).toContain(`mcp__all__${tool}`);
    const { description, input, server } = session.tool("all__get-sum");
    expect(description).not.toBe("");
    expect(input.jsonSchema).toMatchObject({ required: ["a", "b"] });
    expect(server).toEqual({ name: "all", trusted: false });
  });

  test("echoes and adds", async (context) => {
    const { session } = await connect(context);
    expect(wordsOf(await session.call("all__echo", { message: "héllo 🛤" }))).toContain("héllo 🛤");
    expect(wordsOf(await session.call("all__get-sum", { a: 1.5, b: 2 }))).toContain("3.5");
  });

  test("refuses wrong arguments, in words", async (context) => {
    const { session } = await connect(context);
    await sentenceOf(session.call("all__get-sum", { a: "one" }), "all", "get-sum");
  });

  test("M2 reports a long operation step by step, each before the result", async (context) => {
    const { session } = await connect(context);
    const call = session.start("all__trigger-long-running-operation", { duration: 0.5, steps: 5 });
    const seen = await call.result.then(() => [...call.happened]);
    expect(seen).toEqual([1, 2, 3, 4, 5].map((progress) => ({ progress, total: 5 })));
    expect(wordsOf(await call.result)).toContain("Steps: 5");
  });

  test("M3 X5 hears that a long operation was cancelled half-way", async (context) => {
    const { session, heard } = await connect(context);
    const call = session.start(
      "all__trigger-long-running-operation",
      { duration: 30, steps: 60 },
      { onProgress: (progress) => progress === 2 && call.cancel() },
    );
    await expect(call.result).rejects.toThrow();
    const { params: asked, id } = onlyOne(heard(), "tools/call");
    expect(asked).toMatchObject({ name: "trigger-long-running-operation" });
    await vi.waitFor(
      () => expect(onlyOne(heard(), "notifications/cancelled").params).toMatchObject({ requestId: id }),
      {
        timeout: 50_000,
      },
    );
    expect(call.happened.length).toBe(2);
    expect(wordsOf(await session.call("all__get-sum", { a: 1, b: 1 }))).toContain("2");
  });

  test("asks a person, who answers", async (context) => {
    const { session } = await connect(context);
    const content = { name: "Ada", check: true, email: "ada@a.example", integer: 7 };
    const call = await asking(session, { answer: () => ({ action: "accept", content }) });
    expect(wordsOf(await call.result)).toMatch(/Ada/);
    expect(call.happened).toMatchObject([
      { asked: { schema: { properties: { name: { type: "string" } } } } },
    ]);
  });

  test("asks a person, who declines", async (context) => {
    const { session } = await connect(context);
    const call = await asking(session, { answer: () => ({ action: "decline" }) });
    expect(wordsOf(await call.result)).toMatch(/decline/);
  });

  test("answers with images, structure, resources and links", async (context) => {
    const { session } = await connect(context);
    const image = filesOf(await session.call("all__get-tiny-image"));
    expect(image).toMatchObject([{ mediaType: "image/png" }]);
    expect(
      Buffer.from(image[0]?.data ?? [])
        .subarray(1, 4)
        .toString(),
    ).toBe("PNG");
    expect(await session.call("all__get-structured-content", { location: "Chicago" })).toMatchObject({
      temperature: expect.any(Number),
    });
    const reference = { resourceType: "Blob", resourceId: 1 };
    const [blob] = filesOf(await session.call("all__get-resource-reference", reference));
    expect(Buffer.from(blob?.data ?? []).toString()).toContain("Resource 1");
    expect(await session.call("all__get-resource-links", { count: 2 })).toContainEqual(
      expect.objectContaining({ type: "resource_link", uri: "demo://resource/dynamic/text/2" }),
    );
  });

  test("has resources, which a model reaches through two tools", async (context) => {
    const { session } = await connect(context);
    const listed = await session.call("all__list_resources");
    expect(listed).toMatchObject({
      resources: expect.arrayContaining([expect.objectContaining({ uri: DOCUMENT })]),
    });
    expect(await session.call("all__read_resource", { uri: DOCUMENT })).toMatchObject({
      type: "resource",
      uri: DOCUMENT,
      text: expect.stringContaining("Everything Server"),
    });
    await sentenceOf(session.call("all__read_resource", { uri: "demo://nothing" }), "all", "read_resource");
  });

  test("has resources and prompts for code", async (context) => {
    const { place, server } = await connect(context);
    await using open = await place.hub.open(server, { agent: "agent", scope: { tenant: "t" } });
    expect((await open.listResources()).map(({ uri }) => uri)).toContain(DOCUMENT);
    expect(await open.readResource(DOCUMENT)).toMatchObject([
      { text: expect.stringContaining("Everything Server") },
    ]);
    expect((await open.listPrompts()).map(({ name }) => name)).toContain("args-prompt");
    expect(await open.getPrompt("args-prompt", { city: "Paris" })).toMatchObject({
      messages: [{ role: "user", content: { type: "text", text: expect.stringContaining("Paris") } }],
    });
    await expect(open.getPrompt("no-such-prompt")).rejects.toThrow(/all/);
  });

  test("answers with what is large", async (context) => {
    const { session } = await connect(context);
    const message = "a large message ".repeat(200_000);
    expect(wordsOf(await session.call("all__echo", { message })).length).toBeGreaterThanOrEqual(
      message.length,
    );
  });

  test("sees nothing of our environment that it was not given", async (context) => {
    const { session } = await connect(context);
    if (_ !== "stdio") return; // over HTTP the test itself starts it
    const env = JSON.parse(wordsOf(await session.call("all__get-env")));
    const allowed = /^(PATH|HOME|LANG|LC_\w+|TMPDIR|TZ|USER)$/;
    expect(Object.keys(env).filter((key) => !allowed.test(key))).toEqual([]);
  });
});

function filesOf(result: unknown): ToolFile[] {
  return [result].flat().filter((part) => part instanceof ToolFile);
}

/** The server has this tool only once it has heard that a person can be asked, a moment after it was connected. */
async function asking(session: Session, options: Parameters<Session["start"]>[2]) {
  const call = session.start("all__trigger-elicitation-request", {}, options);
  await call.result;
  return call;
}

function onlyOne(heard: ReturnType<Everything["heard"]>, method: string) {
  const found = heard.filter((message) => message.method === method);
  expect(found.length).toBe(1);
  // Just counted; the id is there in requests.
  return found[0] as { params: object; id?: number };
}
