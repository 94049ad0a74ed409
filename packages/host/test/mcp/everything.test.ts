import { describe, expect, type TestContext, test, vi } from "vitest";
import { type Everything, overHttp, overStdio } from "./support/everything.ts";
import { sentenceOf, wordsOf } from "./support/expecting.ts";
import { Place, type Session } from "./support/place.ts";

vi.setConfig({ testTimeout: 60_000 });

type Setup = (place: Place, context: TestContext) => Everything | Promise<Everything>;

const TRANSPORTS: [string, Setup][] = [
  ["stdio", overStdio],
  ["Streamable HTTP", overHttp],
];

describe.concurrent.each(TRANSPORTS)("M1 server-everything over %s", (_, setup) => {
  const connect = async (context: TestContext): Promise<{ session: Session } & Everything> => {
    const place = new Place(context);
    const everything = await setup(place, context);
    return { session: await place.connect(everything.server), ...everything };
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
        timeout: 10_000,
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
    expect(await session.call("all__get-tiny-image")).toContainEqual({
      type: "image",
      media_type: "image/png",
      data: expect.stringMatching(/^iVBOR/),
    });
    expect(await session.call("all__get-structured-content", { location: "Chicago" })).toMatchObject({
      temperature: expect.any(Number),
    });
    const reference = { resourceType: "Blob", resourceId: 1 };
    expect(await session.call("all__get-resource-reference", reference)).toContainEqual(
      expect.objectContaining({
        type: "resource",
        uri: "demo://resource/dynamic/blob/1",
        data: expect.any(String),
      }),
    );
    expect(await session.call("all__get-resource-links", { count: 2 })).toContainEqual(
      expect.objectContaining({ type: "resource_link", uri: "demo://resource/dynamic/text/2" }),
    );
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
