import { request } from "node:http";
import { beforeAll, describe, expect, test } from "vitest";
import { openRoom, type Room, signedIn } from "./support/room.ts";

let room: Room;
let cookie: string;
let own: string;
beforeAll(async () => {
  room = await openRoom();
  cookie = await signedIn(room);
  own = room.url;
});

/** With headers that `fetch` lets nobody set. */
function send(
  path: string,
  headers: Readonly<Record<string, string>>,
  { method = "GET", body = "", to = room }: { method?: string; body?: string; to?: Room } = {},
): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; text: string }> {
  const { port } = new URL(to.url);
  const length = body === "" ? {} : { "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        host: "127.0.0.1",
        port,
        path,
        method,
        headers: { ...headers, ...length },
        setHost: headers["host"] === undefined,
      },
      (answer) => {
        let text = "";
        answer.on("data", (chunk) => {
          text += chunk;
        });
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
      },
    );
    asked.on("error", reject);
    asked.end(body);
  });
}

const create = (headers: Record<string, string>) =>
  send(
    "/api/v1/conversations",
    { "content-type": "application/json", cookie, ...headers },
    { method: "POST", body: "{}" },
  );

describe("writes with the cookie", () => {
  test("work from our own pages", async () => {
    expect((await create({ origin: own })).status).toBe(201);
    expect((await create({ origin: own, "sec-fetch-site": "same-origin" })).status).toBe(201);
    expect((await create({ "sec-fetch-site": "same-origin" })).status).toBe(201);
  });

  test.each([
    ["another site", { origin: "https://evil.example" }],
    [
      "another site that says it is ours",
      { origin: "https://evil.example", "sec-fetch-site": "same-origin" },
    ],
    ["another port of this machine", { origin: "http://127.0.0.1:3000", "sec-fetch-site": "same-site" }],
    ["another scheme", { origin: "https://127.0.0.1:1" }],
    ["a page without an origin", { origin: "null" }],
    ["nobody says where", {}],
    ["elsewhere, by the browser's word", { "sec-fetch-site": "cross-site" }],
    ["a name that begins like ours", { origin: "http://127.0.0.1.evil.example" }],
    ["a form's own address", { origin: "file://" }],
  ])("are refused from %s", async (_, headers) => {
    const { status, text } = await create(headers as Record<string, string>);
    expect([status, JSON.parse(text).code]).toEqual([403, "wrong_origin"]);
  });

  test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])(
    "are refused as %s, which a form could send",
    async (type) => {
      expect((await create({ origin: own, "content-type": type })).status).toBe(415);
    },
  );

  test("leave nothing behind when they are refused", async () => {
    const admin = room.client("admin");
    const before = (await admin.listConversations({ query: { limit: 200 } })).items.length;
    await create({ origin: "https://evil.example" });
    expect((await admin.listConversations({ query: { limit: 200 } })).items.length).toBe(before);
  });
});

test("another site's page does not read with the cookie, not even from another port", async () => {
  for (const site of ["cross-site", "same-site"])
    expect((await send("/api/v1/me", { cookie, "sec-fetch-site": site })).status).toBe(403);
  expect((await send("/api/v1/me", { cookie })).status).toBe(200);
});

test("nobody is signed in from another site", async () => {
  const headers = { "content-type": "application/json", origin: "https://evil.example" };
  const body = JSON.stringify({ name: "admin", password: "whatever it is" });
  const { status, text } = await send("/api/v1/session", headers, { method: "POST", body });
  expect([status, JSON.parse(text).code]).toEqual([403, "wrong_origin"]);
});

test("other origins are given nothing: no CORS", async () => {
  const headers = { origin: "https://evil.example", "access-control-request-method": "POST" };
  const answer = await send("/api/v1/runs", headers, { method: "OPTIONS" });
  expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  expect(answer.status).toBeGreaterThanOrEqual(400);
});

describe("Host", () => {
  test.each([
    "evil.example",
    "evil.example:4711",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "169.254.169.254",
    "0.0.0.0",
    "[::ffff:7f00:1]",
    "127.0.0.1@evil.example",
    "evil.example#127.0.0.1",
    "127.0.0.1,evil.example",
    "0x7f.1",
    "",
  ])("%j is not us", async (host) => {
    const { status } = await send("/api/v1/health", { host });
    expect([400, 421]).toContain(status);
  });

  test.each(["127.0.0.1", "localhost", "LOCALHOST:9", "[::1]:4711", "localhost."])("%s is", async (host) => {
    expect((await send("/api/v1/health", { host })).status).toBe(200);
  });

  test("a public address is one of ours, and so are names that were given", async () => {
    const to = await openRoom({ server: { publicUrl: "https://agents.example", hosts: ["inside.example"] } });
    for (const host of ["agents.example", "inside.example:99", "127.0.0.1"])
      expect((await send("/api/v1/health", { host }, { to })).status).toBe(200);
    expect((await send("/api/v1/health", { host: "agents.example.evil" }, { to })).status).toBe(421);
  });
});

test("every answer has what keeps browsers from being used against it", async () => {
  const paths = [
    "/",
    "/runs",
    "/assets/x.js",
    "/api/v1/health",
    "/api/v1/me",
    "/api/v1/nothing",
    "/v1/models",
    "/mcp",
  ];
  for (const path of paths) {
    const { headers } = await send(path, {});
    expect(headers, path).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "x-frame-options": "DENY",
    });
    const policy = String(headers["content-security-policy"]);
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'self'",
    ])
      expect(policy).toContain(rule);
    expect(policy).not.toMatch(/unsafe|\*/);
    expect(headers["x-powered-by"]).toBeUndefined();
    if (path.startsWith("/api")) expect(headers["cache-control"]).toBe("no-store");
  }
});

test("the cookie is for us alone: no script reads it, no other site sends it", async () => {
  const link = new URLSearchParams(new URL(await room.server.signInLink("viewer")).hash.slice(1)).get("link");
  const answer = await room.send("/session", { method: "POST", body: JSON.stringify({ link }) });
  const set = answer.headers.get("set-cookie") ?? "";
  for (const part of ["HttpOnly", "SameSite=Strict", "Path=/"]) expect(set).toContain(part);
  expect(set).not.toContain("Domain");
  expect(set).not.toContain("Secure");
});

test("over https the cookie is bound to the host, and browsers are told to stay there", async () => {
  const to = await openRoom({ server: { publicUrl: "https://agents.example" } });
  const link = new URLSearchParams(new URL(await to.server.signInLink("viewer")).hash.slice(1)).get("link");
  const answer = await to.send("/session", { method: "POST", body: JSON.stringify({ link }) });
  const set = answer.headers.get("set-cookie") ?? "";
  expect(set).toMatch(/^__Host-trackside=[^;]+; /);
  expect(set).toContain("; Secure");
  expect(answer.headers.get("strict-transport-security")).toContain("max-age=");
  const asked = {
    cookie: set.split(";")[0] ?? "",
    host: "agents.example",
    "content-type": "application/json",
  };
  const write = (origin: string) =>
    send("/api/v1/session", { ...asked, origin }, { method: "DELETE", to }).then(({ status }) => status);
  expect(await write("https://evil.example")).toBe(403);
  expect(await write("https://agents.example")).toBe(204);
});
