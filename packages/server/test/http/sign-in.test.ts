import { expect, test } from "vitest";
import type { Answer } from "../../src/client/index.ts";
import { createServer } from "../../src/index.ts";
import { fresh } from "./support/fresh.ts";
import { openRoom, type Room, signedIn } from "./support/room.ts";

const PASSWORD = "correct horse battery";

function secretIn(link: string | undefined): string {
  return new URLSearchParams(new URL(link ?? "").hash.slice(1)).get("link") ?? "";
}

const post = (url: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${url}/api/v1${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

test("the first visit: of many with the setup link one becomes admin, and is signed in", async () => {
  const { url, server } = await fresh();
  const health = await (await fetch(`${url}/api/v1/health`)).json();
  expect(health).toMatchObject({ ok: true, setup: true });
  const links = [await server.setupLink(), await server.setupLink()].map(secretIn);
  const tries = await Promise.all(
    [0, 1, 2, 3].map((n) =>
      post(url, "/setup", { link: links[n % 2], name: `admin${n}`, password: PASSWORD }),
    ),
  );
  expect(tries.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
  const won = tries.find(({ status }) => status === 200);
  const cookie = won?.headers.get("set-cookie")?.split(";")[0] ?? "";
  const me = (await (await fetch(`${url}/api/v1/me`, { headers: { cookie } })).json()) as Answer<"me">; // checked on its way
  expect(me).toMatchObject({ role: "admin", via: "session", may: ["read", "operate", "decide", "admin"] });
  expect(await server.setupLink()).toBeUndefined();
  expect(await (await fetch(`${url}/api/v1/health`)).json()).toMatchObject({ setup: false });

  const { name } = me.user;
  const right = await post(url, "/session", { name, password: PASSWORD });
  expect(right.status).toBe(200);
  const wrong = await post(url, "/session", { name, password: `${PASSWORD}!` });
  const unknown = await post(url, "/session", { name: "nobody", password: PASSWORD });
  expect([wrong.status, await wrong.text()]).toEqual([unknown.status, await unknown.text()]);
  expect(wrong.status).toBe(401);
});

test("a sign-in link works once", async () => {
  const room = await openRoom();
  const link = secretIn(await room.server.signInLink("operator"));
  const tries = await Promise.all([
    post(room.url, "/session", { link }),
    post(room.url, "/session", { link }),
  ]);
  expect(tries.map(({ status }) => status).sort()).toEqual([200, 401]);
});

test("signing in is tried a few times only", async () => {
  const room = await openRoom({ server: { limits: { signIn: { burst: 2, perSecond: 0.001 } } } });
  const attempt = () => post(room.url, "/session", { link: "x".repeat(43) });
  expect([(await attempt()).status, (await attempt()).status, (await attempt()).status]).toEqual([
    401, 401, 429,
  ]);
});

test("a session outlives the server, and ends when somebody signs out", async () => {
  const before = await openRoom();
  const cookie = await signedIn(before);
  await before.close();
  const after = await openRoom({ dir: before.dir });
  const me = () => after.send("/me", { headers: { cookie } });
  expect((await me()).status).toBe(200);
  const out = await after.send("/session", { method: "DELETE", headers: { cookie, origin: after.url } });
  expect(out.status).toBe(204);
  expect(out.headers.get("set-cookie")).toContain("01 Jan 1970");
  expect((await me()).status).toBe(401);
});

test("who is disabled is out at once, by cookie and by token", async () => {
  const room = await openRoom();
  const cookie = await signedIn(room, "operator");
  const { items } = await room.client("admin").listUsers();
  const id = items.find(({ name }) => name === "operator")?.id ?? "";
  await room.client("admin").updateUser({ params: { id }, body: { disabled: true } });
  expect((await room.send("/me", { headers: { cookie } })).status).toBe(401);
  expect((await room.send("/me", { as: "operator" })).status).toBe(401);
});

test("the last admin stays, and nobody removes themselves", async () => {
  const room = await openRoom();
  const admin = room.client("admin");
  const me = await admin.me();
  await expect(admin.deleteUser({ params: { id: me.user.id } })).rejects.toMatchObject({ status: 409 });
  await expect(
    admin.updateUser({ params: { id: me.user.id }, body: { role: "viewer" } }),
  ).rejects.toMatchObject({ status: 409, code: "last_admin" });
});

test("it does not listen where others reach it before anybody can sign in", async () => {
  const { trackside, server, url } = await fresh();
  const outside = createServer({ trackside, host: "0.0.0.0", port: 0, web: false });
  await expect(outside.listen()).rejects.toThrow(/127\.0\.0\.1.*link/s);
  const withAuth = createServer({
    trackside,
    host: "0.0.0.0",
    port: 0,
    web: false,
    auth: async () => undefined,
  });
  await withAuth.listen();
  await withAuth.close({ graceMs: 0 });
  const link = secretIn(await server.setupLink());
  expect((await post(url, "/setup", { link, name: "ann", password: PASSWORD })).status).toBe(200);
  const { port } = await outside.listen();
  expect((await fetch(`http://127.0.0.1:${port}/api/v1/health`)).status).toBe(200);
  await outside.close({ graceMs: 0 });
});

test("one's own sign-in decides who comes, and its cookies are no way around", async () => {
  const credential = {
    tenant: "default",
    user: { id: "u1", name: "sso" },
    role: "operator",
    via: "session",
  } as const;
  const room: Room = await openRoom({
    server: { auth: async (request) => (request.headers.get("cookie") === "sso=1" ? credential : undefined) },
  });
  const ask = (headers: Record<string, string>) =>
    room.send("/conversations", { method: "POST", body: "{}", headers: { cookie: "sso=1", ...headers } });
  expect((await ask({ origin: room.url })).status).toBe(201);
  expect((await ask({ origin: "https://evil.example" })).status).toBe(403);
  expect((await ask({})).status).toBe(403);
});

test("a public address that is none, or a port that is taken, is said in words", async () => {
  const { trackside, url } = await fresh();
  expect(() => createServer({ trackside, publicUrl: "agents.example/path" })).toThrow(/publicUrl/);
  const second = createServer({ trackside, port: Number(new URL(url).port), web: false });
  await expect(second.listen()).rejects.toThrow(/listens on 127\.0\.0\.1:\d+ already/);
});
