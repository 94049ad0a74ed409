import { createClient } from "@trackside/server/client";
import { describe, expect, test } from "vitest";
import { configOf, project, until } from "./support/project.ts";

const CONFIG = configOf("served");

describe("trackside start", () => {
  test("without a config serves a demo and prints a link that opens signed in; it ends when it is told to", async () => {
    const place = project(null);
    const demo = place.start(["start", "--port", "0"], { process: true });
    const link = await demo.see(/http:\/\/127\.0\.0\.1:\d+\/sign-in#link=\S+/);
    expect(demo.stdout).toContain("The model is a scripted demo, not an AI");
    const { client, session } = await signIn(link);
    expect(session).toMatchObject({ role: "admin", tenant: "default" });
    const { items } = await client.listAgents({});
    expect(items.map(({ name }) => name)).toEqual(["on-call", "release-manager"]);
    // The same link again lets nobody in.
    await expect(signIn(link)).rejects.toMatchObject({ status: 401 });
    demo.signal("SIGTERM");
    expect((await demo.ended).code).toBe(0);
  });

  test("with a config serves that: a setup link first, agents made in it run, and are there after a restart", async () => {
    const place = project(CONFIG);
    const first = place.start(["start"]);
    const link = await first.see(/http:\/\/127\.0\.0\.1:\d+\/setup#link=\S+/);
    const { client } = await setUp(link);
    const definition = { name: "greeter", model: "demo:scripted", tools: ["greet"], hitl_tools: ["greet"] };
    await client.createAgent({ body: { definition } });
    const { run_id } = await client.startRun({ body: { agent: "greeter", input: "Hi" } });
    const status = async () => (await client.getRun({ params: { id: run_id } })).status;
    await until(async () => ((await status()) === "completed" ? true : undefined));
    first.signal("SIGTERM");
    expect((await first.ended).code).toBe(0);

    const { code, stdout } = await place.cli(["agents"]);
    expect(stdout).toContain("greeter");
    expect(code).toBe(0);
    const again = place.start(["start"]);
    await again.see(/http:\/\/127\.0\.0\.1:\d+/);
    expect(again.stdout).not.toContain("/setup#");
  });

  test("trackside dev starts again when a file of the config changes", async () => {
    const place = project(CONFIG);
    const dev = place.start(["dev"], { process: true });
    await dev.see(/\/setup#link=\S+/);
    place.write("trackside.config.ts", `console.log("the second config");\n${CONFIG}`);
    await dev.see(/the second config.*\/setup#link=\S+/s);
    dev.signal("SIGTERM");
    expect((await dev.ended).code).toBe(0);
  });

  test.each([
    [["start", "--port", "http"], "--port takes a number from 0 to 65535"],
    [["start", "--model", "openai:gpt-5"], "--model is for the demo"],
    [["start", "--host", "0.0.0.0"], "does not listen on 0.0.0.0 while nobody can sign in"],
  ])("%j is refused with what to do", async (args, message) => {
    const { code, stderr } = await project(CONFIG).cli(args);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });
});

/** Signs in as a browser does, and answers a client that carries the cookie. */
async function signIn(link: string) {
  const { origin, hash } = new URL(link);
  return entered(origin, "/api/v1/session", { link: hash.replace("#link=", "") });
}

async function setUp(link: string) {
  const { origin, hash } = new URL(link);
  const body = { link: hash.replace("#link=", ""), name: "ann", password: "correct horse battery" };
  return entered(origin, "/api/v1/setup", body);
}

async function entered(origin: string, path: string, body: object) {
  const headers = { "content-type": "application/json", origin };
  const response = await fetch(origin + path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw Object.assign(new Error(await response.text()), { status: response.status });
  const cookie = response.headers.get("set-cookie")?.split(";")[0] ?? "";
  const client = createClient({
    baseUrl: origin,
    fetch: (url, init) =>
      fetch(url, { ...init, headers: { ...(init?.headers as Record<string, string>), cookie, origin } }), // ours are plain
  });
  return { client, session: await response.json() };
}
