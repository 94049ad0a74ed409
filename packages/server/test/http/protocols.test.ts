import { beforeAll, expect, test } from "vitest";
import { openRoom, type Room, signedIn } from "./support/room.ts";

let room: Room;
beforeAll(async () => {
  room = await openRoom();
});

const PATHS = [
  ["GET", "/v1/models"],
  ["POST", "/v1/chat/completions"],
  ["POST", "/v1/responses"],
  ["POST", "/v1/agents/clerk/chat"],
  ["POST", "/v1/agents/clerk/ag-ui"],
  ["POST", "/mcp"],
  ["GET", "/mcp"],
] as const;

test.each(PATHS)("%s %s is for known callers", async (method, path) => {
  const init = method === "GET" ? {} : { body: "{}" };
  const answer = await room.send(`/${path}`, { method, ...init });
  expect(answer.status).toBe(401);
  expect(answer.headers.get("www-authenticate")).toContain("Bearer");
  const said = (await answer.json()) as { code: string; error?: { message: string } };
  expect(said.code).toBe("not_signed_in");
  // Clients of OpenAI's API look for the message there.
  if (path.startsWith("/v1/")) expect(said.error?.message).toContain("API token");
});

test.each(PATHS.filter(([method]) => method === "POST"))(
  "%s %s is not for pages of other sites",
  async (method, path) => {
    const cookie = await signedIn(room);
    const headers = { cookie, origin: "https://evil.example" };
    expect((await room.send(`/${path}`, { method, headers, body: "{}" })).status).toBe(403);
  },
);

test("a token opens them", async () => {
  const models = await room.send("//v1/models", { as: "viewer" });
  expect(models.status).toBe(200);
  const body = JSON.stringify({ model: "clerk", messages: [{ role: "user", content: "Hello" }] });
  const chat = await room.send("//v1/chat/completions", { method: "POST", as: "operator", body });
  expect(await chat.json()).toMatchObject({ choices: [{ message: { content: "Good day." } }] });
  const refused = await room.send("//v1/chat/completions", { method: "POST", as: "viewer", body });
  expect(refused.status).toBe(403);
});

test("what is not there is a problem, not a page", async () => {
  for (const path of ["//v1/nothing", "//mcp/nothing", "//api/v2/runs"]) {
    const answer = await room.send(path, { as: "viewer", headers: { accept: "text/html" } });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "application/problem+json"]);
  }
});
