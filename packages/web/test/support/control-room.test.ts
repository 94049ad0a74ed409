import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { fixture } from "../../../../scripts/fixture.ts";
import { type ControlRoom, startControlRoom, startControlRoomProcess } from "./control-room.ts";
import small from "./small-room.ts";

vi.setConfig({ testTimeout: 300_000 }); // processes start when they get a turn

const files = () => fixture({ "index.html": "<!doctype html><title>Room</title>" });
const MODULE = join(import.meta.dirname, "small-room.ts");

test("a control room here serves the app, the API as any role, and a link that signs in once", async () => {
  const room = await startControlRoom({ ...small, web: files() });
  expect(await (await fetch(room.url)).text()).toContain("<title>Room");
  const { items } = await (await room.client()).listAgents({});
  expect(items.map(({ name }) => name)).toEqual(["clerk"]);
  await expect((await room.client("viewer")).listUsers()).rejects.toMatchObject({ status: 403 });
  expect(await signInWith(room, await room.signedInUrl())).toMatchObject({
    user: { name: "ada" },
    role: "admin",
  });
  await room.close();
  await expect(fetch(room.url)).rejects.toThrow();
});

test("one that is not set up gives a link for the first admin", async () => {
  const room = await startControlRoom({ agents: [], web: files(), setUp: false });
  expect(await room.signedInUrl()).toContain("/setup#");
});

test("one in a process is there again after a kill, with its data, on its port", async () => {
  const room = await startControlRoomProcess(MODULE, { web: files() });
  const { url } = room;
  const client = await room.client();
  const { run_id } = await client.startRun({ body: { agent: "clerk", input: "hello" } });
  await vi.waitFor(
    async () => expect((await client.getRun({ params: { id: run_id } })).status).toBe("completed"),
    { timeout: 120_000 },
  );
  await room.kill();
  await expect(fetch(url)).rejects.toThrow();
  await room.restart();
  expect(room.url).toBe(url);
  expect((await client.getRun({ params: { id: run_id } })).status).toBe("completed");
  expect(await signInWith(room, await room.signedInUrl())).toMatchObject({ role: "admin" });
});

/** What the page at the link does. */
async function signInWith(room: ControlRoom, link: string): Promise<unknown> {
  const response = await fetch(`${room.url}/api/v1/session`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: room.url },
    body: JSON.stringify({ link: new URLSearchParams(new URL(link).hash.slice(1)).get("link") }),
  });
  return response.json();
}
