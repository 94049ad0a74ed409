import { connect } from "node:net";
import { beforeAll, expect, test } from "vitest";
import { problem } from "../../src/contract/index.ts";
import { openRoom, type Room } from "./support/room.ts";

type Body = NonNullable<RequestInit["body"]>;

let room: Room;
beforeAll(async () => {
  room = await openRoom();
});

async function refusedWith(answer: Response): Promise<string> {
  const said = problem.parse(await answer.json());
  expect(answer.status).toBe(said.status);
  expect(answer.headers.get("content-type")).toBe("application/problem+json");
  expect(said.detail).not.toMatch(/node_modules|\.ts:\d/);
  return `${said.status} ${said.code}`;
}

const start = (body: Body, headers: Record<string, string> = {}) =>
  room.send("/runs", { method: "POST", as: "admin", body, headers, duplex: "half" } as RequestInit & {
    as: "admin";
  });

test.each([
  ["no JSON", "{", "400 json_invalid"],
  ["half a string", '{"agent":"', "400 json_invalid"],
  [
    "bytes that are no UTF-8",
    new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
    "400 json_invalid",
  ],
  ["a list", "[]", "400 request_invalid"],
  ["a number", "1e999", "400 request_invalid"],
  ["null", "null", "400 request_invalid"],
  ["nothing it knows", '{"agnet":"clerk"}', "400 request_invalid"],
  ["a key for prototypes", '{"agent":"clerk","input":"x","__proto__":{"admin":true}}', "400 json_key"],
  ["one further down", '{"agent":"clerk","input":"x","scope":{"a":[{"__proto__":1}]}}', "400 json_key"],
  ["the other way there", '{"scope":{"constructor":{"prototype":{"admin":true}}}}', "400 json_key"],
  ["brackets without end", "[".repeat(100_000) + "]".repeat(100_000), "400 json_too_deep"],
  ["objects without end", `${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`, "400 json_too_deep"],
])("a body of %s is refused", async (_, body, expected) => {
  expect(await refusedWith(await start(body))).toBe(expected);
});

test("constructor is a word like any other", async () => {
  const answer = await start('{"agent":"clerk","input":"x","scope":{"constructor":"Ferrari"}}');
  expect(answer.status).toBe(202);
});

test.each([
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/json; charset=utf-16",
  "",
])("a body of type %j is refused", async (type) => {
  expect(await refusedWith(await start('{"agent":"clerk","input":"x"}', { "content-type": type }))).toBe(
    "415 content_type",
  );
});

test("every problem of a request is told at once, with its place", async () => {
  const answer = await room.send("/agents/helper?colour=red", {
    method: "PUT",
    as: "admin",
    body: JSON.stringify({ definition: 1, version: "2", verison: 3 }),
  });
  const { issues = [] } = problem.parse(await answer.json());
  expect(issues.map(({ path }) => path).sort()).toEqual([
    "body.definition",
    "body.verison",
    "body.version",
    "query.colour",
  ]);
  expect(
    issues.every(({ given, allowed, message }) => given !== "" && allowed !== "" && message !== ""),
  ).toBe(true);
});

test("what was typed as a password is never said back", async () => {
  const body = JSON.stringify({ name: 7, password: ["hunter2hunter2"], tenant: 7 });
  const text = await (await room.send("/session", { method: "POST", body })).text();
  expect(text).toContain("request_invalid");
  expect(text).not.toContain("hunter2");
});

test.each([
  ["limit=0"],
  ["limit=100000"],
  ["limit=ten"],
  ["status=happy"],
  ["limit=1&limit=2"],
  ["__proto__=1"],
  ["constructor=1"],
  ["from=-1"],
])("a list is refused the query %s", async (query) => {
  expect(await refusedWith(await room.send(`/runs?${query}`, { as: "admin" }))).toBe("400 request_invalid");
});

test("a body that is too large is refused by its length, and by its bytes when it does not say", async () => {
  const most = 1024 * 1024;
  const long = JSON.stringify({ name: "x".repeat(most), role: "viewer" });
  const send = (body: Body) =>
    room.send("/tokens", { method: "POST", as: "admin", body, duplex: "half" } as RequestInit & {
      as: "admin";
    });
  expect(await refusedWith(await send(long))).toBe("413 too_large");
  let sent = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 65_536;
      controller.enqueue(new Uint8Array(65_536).fill(0x20));
    },
  });
  const outcome = await send(endless).then(refusedWith, () => "cut off"); // whoever still writes may not hear the answer
  expect(["413 too_large", "cut off"]).toContain(outcome);
  expect(sent).toBeLessThan(64 * most);
});

test("messages may be larger than other bodies", async () => {
  const body = JSON.stringify({ agent: "nobody-by-this-name", input: "x".repeat(2 * 1024 * 1024) });
  expect(await refusedWith(await start(body))).toBe("404 not_found");
});

test.each([
  ["GET", "/nothing", "404 not_found"],
  ["POST", "/agents/clerk/fly", "404 not_found"],
  ["PUT", "/runs", "405 method_not_allowed"],
  ["PATCH", "/runs", "405 method_not_allowed"],
  ["PROPFIND", "/agents/clerk", "405 method_not_allowed"],
  ["GET", "/runs/%00", "404 not_found"],
  ["GET", "/runs/a%0d%0aset-cookie:x", "404 not_found"],
  ["GET", "/runs/%ff%fe", "404 not_found"],
  ["GET", "/runs/..%2f..%2fetc%2fpasswd", "404 not_found"],
  ["GET", `/runs/${"x".repeat(201)}`, "400 request_invalid"],
  ["GET", "/agents/' OR 1=1 --", "404 not_found"],
  ["GET", "/artifacts/..%252f..%252fetc%252fpasswd/content", "404 not_found"],
])("%s %s is a problem", async (method, path, expected) => {
  const answer = await room.send(path, { method, as: "admin" });
  expect(await refusedWith(answer)).toBe(expected);
  if (expected.startsWith("405")) expect(answer.headers.get("allow")).toMatch(/GET/);
});

const XSS = [
  "<script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "javascript:alert(1)",
  "<svg/onload=alert(1)>",
  "{{constructor.constructor('alert(1)')()}}",
  "\u2028</script>",
];

test.each(XSS)("nothing that repeats %j can be taken for a page", async (payload) => {
  const paths = [
    `/agents/${encodeURIComponent(payload)}`,
    `/runs?search=${encodeURIComponent(payload)}`,
    `/runs?${encodeURIComponent(payload)}=1`,
    `/${encodeURIComponent(payload)}`,
  ];
  for (const path of paths) {
    const answer = await room.send(path, { as: "admin" });
    expect(answer.headers.get("content-type")).toMatch(/^application\/(problem\+)?json$/);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
    await answer.body?.cancel();
  }
});

/** Bytes as they are: clients that behave do not send these. */
function raw(text: string): Promise<string> {
  const { hostname, port } = new URL(room.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk;
      if (answer.includes("\r\n\r\n")) socket.end();
    });
    // The server may reset the connection once it has answered.
    socket.on("error", (error) => answer === "" && reject(error));
    socket.on("close", () => resolve(answer.split("\r\n")[0] ?? ""));
  });
}

test("headers that are too large, or say the length twice, do not get in", async () => {
  const host = `Host: ${new URL(room.url).host}`;
  expect(
    await raw(`GET /api/v1/health HTTP/1.1\r\n${host}\r\nX-Long: ${"x".repeat(20_000)}\r\n\r\n`),
  ).toContain(" 431 ");
  const twice = "Content-Length: 2\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json";
  expect(await raw(`POST /api/v1/session HTTP/1.1\r\n${host}\r\n${twice}\r\n\r\n0\r\n\r\n`)).toContain(
    " 400 ",
  );
  expect(await raw(`GET /api/v1/health HTTP/1.1\r\n${host}\r\nHost: evil.example\r\n\r\n`)).toContain(
    " 421 ",
  );
});

test("whoever sends headers or a body drop by drop is not waited for", async () => {
  const slow = await openRoom({ server: { limits: { headersMs: 200, requestMs: 400 } } });
  const { port, host } = new URL(slow.url);
  const begun = [
    "GET /api/v1/health HTTP/1.1\r\nHost:",
    `POST /api/v1/session HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
  ];
  for (const text of begun) {
    const ended = await new Promise<string>((resolve) => {
      let answer = "";
      const socket = connect(Number(port), "127.0.0.1", () => socket.write(text));
      socket.on("data", (chunk) => {
        answer += chunk;
      });
      socket.on("error", () => {}); // a reset ends it too
      socket.on("close", () => resolve(answer));
    });
    expect(ended).not.toContain(" 200 ");
  }
});

test("what nobody foresaw says a reference and nothing else; the log has the rest", async () => {
  const broken = await openRoom();
  broken.trackside.runs.list = () => Promise.reject(new Error("password=hunter2 at /srv/secret.ts:1"));
  const answer = await broken.send("/runs", { as: "admin" });
  const said = problem.parse(await answer.json());
  expect([answer.status, said.code]).toEqual([500, "internal"]);
  expect(JSON.stringify(said)).not.toMatch(/hunter2|secret\.ts/);
  const reference = said.instance?.replace("urn:uuid:", "") ?? "none";
  expect(broken.log.join("\n")).toContain(reference);
  expect(broken.log.join("\n")).toContain("hunter2");
});

test("callers are slowed down one by one", async () => {
  const small = await openRoom({ server: { limits: { credential: { burst: 3, perSecond: 0.001 } } } });
  const statuses: number[] = [];
  for (let i = 0; i < 4; i++) statuses.push((await small.send("/me", { as: "viewer" })).status);
  expect(statuses).toEqual([200, 200, 200, 429]);
  const answer = await small.send("/me", { as: "viewer" });
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(problem.parse(await answer.json()).retry_after_seconds).toBeGreaterThan(0);
  expect((await small.send("/me", { as: "operator" })).status).toBe(200);
});

test("nobody in particular is slowed down by where they come from", async () => {
  const small = await openRoom({ server: { limits: { nobody: { burst: 2, perSecond: 0.001 } } } });
  const statuses: number[] = [];
  for (let i = 0; i < 3; i++) statuses.push((await small.send("/health")).status);
  expect(statuses).toEqual([200, 200, 429]);
  expect((await small.send("/me", { as: "viewer" })).status).toBe(200);
});
