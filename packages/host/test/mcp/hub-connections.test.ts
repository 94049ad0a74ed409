import { execFile } from "node:child_process";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ServerDefinition } from "trackside/engine";
import { describe, expect, type TestContext, test, vi } from "vitest";
import { McpHub } from "../../src/mcp/index.ts";
import { Place } from "./support/place.ts";
import { processesWith } from "./support/processes.ts";

vi.setConfig({ testTimeout: 60_000 });

const about = (tenant = "t") => ({ agent: "agent", scope: { tenant } });
const library = (place: Place, more: Partial<ServerDefinition> = {}): ServerDefinition => ({
  name: "library",
  command: process.execPath,
  args: [join(import.meta.dirname, "support", "library.ts"), place.mark],
  ...more,
});

describe.concurrent("M1 a connection", () => {
  test("is a run's own while it lasts, and the next run's afterwards", async (context) => {
    const place = new Place(context);
    const [first, second] = await Promise.all([place.connect(library(place)), place.connect(library(place))]);
    const pids = [await first.call("library__whoami"), await second.call("library__whoami")];
    expect(new Set(pids).size).toBe(2);
    first.connected.release();
    const third = await place.connect(library(place));
    expect(await third.call("library__whoami")).toBe(pids[0]);
  });

  test("is never another tenant's, nor one with other secrets", async (context) => {
    const secrets = vi.fn(async (name: string, scope: { tenant: string }) => `${scope.tenant}-${name}`);
    const place = new Place(context, { secrets });
    const server = (key: string) => library(place, { env: { KEY: { secret: key } } });
    const pids: unknown[] = [];
    for (const [tenant, key] of [
      ["a", "x"],
      ["b", "x"],
      ["a", "y"],
      ["a", "x"],
    ] as const) {
      const connected = await place.hub.connect([server(key)], about(tenant));
      const call = (name: string) =>
        connected.tools.find((tool) => tool.name === `mcp__library__${name}`)?.run({}, idle);
      pids.push(await call("whoami"));
      expect(await call("env")).toMatchObject({ KEY: `${tenant}-${key}` });
      connected.release();
    }
    expect(new Set(pids.slice(0, 3)).size).toBe(3);
    expect(pids[3]).toBe(pids[0]);
  });

  test("that still owes an answer is not handed on", async (context) => {
    const place = new Place(context);
    const first = await place.connect(library(place));
    const pid = await first.call("library__whoami");
    const { promise: arrived, resolve } = Promise.withResolvers<number>();
    const call = first.start("library__never", {}, { onProgress: resolve });
    await arrived;
    call.cancel();
    await expect(call.result).rejects.toThrow("cancelled");
    first.connected.release();
    const second = await place.connect(library(place));
    expect(await second.call("library__whoami")).not.toBe(pid);
  });

  test("that nobody wants for a while is closed", async (context) => {
    const place = new Place(context, { keepMs: 20 });
    const session = await place.connect(library(place));
    session.connected.release();
    await place.noProcesses();
  });

  test("is gone with the run: a call after it says so", async (context) => {
    const place = new Place(context);
    const session = await place.connect(library(place));
    session.connected.release();
    session.connected.release();
    await expect(session.call("library__look")).rejects.toThrow(/"library" is over/);
  });

  test("cannot be made by a hub that is closed", async (context) => {
    const place = new Place(context);
    await place.hub.close();
    await place.hub.close();
    await expect(place.connect(library(place))).rejects.toMatchObject({
      code: "mcp_unavailable",
      message: expect.stringContaining("closed"),
    });
  });

  test("does not keep a finished program up, and nothing is left when it ends", async (context) => {
    const place = new Place(context);
    const program = join(import.meta.dirname, "support", "forgetful.ts");
    const { stdout } = await promisify(execFile)(process.execPath, [
      "--conditions=@trackside/source",
      program,
      JSON.stringify(library(place)),
    ]);
    expect(stdout).toBe("a shelf");
    await place.noProcesses();
  });
});

describe.concurrent("M4 several servers", () => {
  test("that cannot be reached are all named, and the others are let go", async (context) => {
    const place = new Place(context);
    const missing = (name: string) =>
      library(place, { name, command: join(import.meta.dirname, "nothing-here") });
    await expect(place.connect(missing("one"), library(place), missing("two"))).rejects.toMatchObject({
      code: "mcp_unavailable",
      message: expect.stringMatching(/2 MCP servers.*"one".*"two"/s),
    });
  });

  test("a server that was seen before is offered while it is away; its calls say what is wrong", async (context) => {
    const site = await Site.open(context);
    const hub = new McpHub({ keepMs: 0 });
    context.onTestFinished(() => hub.close());
    const first = await hub.connect([site.definition], about());
    first.release();
    await site.close();
    const away = await hub.connect([site.definition], about());
    expect(away.tools.map(({ name }) => name)).toEqual(["mcp__site__echo"]);
    await expect(away.tools[0]?.run({}, idle)).rejects.toMatchObject({ code: "mcp_unavailable" });
    // Another tenant has never seen it.
    await expect(hub.connect([site.definition], about("other"))).rejects.toMatchObject({
      code: "mcp_unavailable",
      message: expect.stringContaining('"site"'),
    });
  });
});

describe.concurrent("A7 secrets", () => {
  const withKey = (place: Place) => library(place, { env: { API_KEY: { secret: "library-key" } } });

  test("without anybody to look them up refuse the run, and name server and key", async (context) => {
    const place = new Place(context);
    await expect(place.connect(withKey(place))).rejects.toMatchObject({
      code: "mcp_unavailable",
      message: expect.stringMatching(/"library".*"library-key".*API_KEY/),
    });
    expect(processesWith(place.mark)).toEqual([]);
  });

  test.for<[string, () => Promise<string>]>([
    ["that do not exist", async () => ""],
    ["whose store fails", () => Promise.reject(new Error("hunter2 leaked by the store"))],
  ])("%s refuse the run without showing anything", async ([, secrets], context) => {
    const place = new Place(context, { secrets });
    const failed = await place.connect(withKey(place)).catch((error: Error) => error);
    expect(failed).toMatchObject({ message: expect.stringMatching(/"library".*"library-key".*API_KEY/) });
    expect(String(failed)).not.toContain("hunter2");
  });

  test("that a server repeats in its last words are not repeated by us", async (context) => {
    const place = new Place(context, { secrets: async () => "hunter2-and-more" });
    const server = {
      name: "gossip",
      command: process.execPath,
      args: ["-e", "console.error('bad key', process.env.KEY); process.exit(1)", place.mark],
      env: { KEY: { secret: "key" } },
    };
    const failed = await place.connect(server).catch((error: Error) => error);
    expect(failed).toMatchObject({ message: expect.stringContaining("bad key [secret]") });
    expect(String(failed)).not.toContain("hunter2");
  });

  test("in headers do not follow a redirect to another place", async (context) => {
    const site = await Site.open(context);
    const seen: (string | undefined)[] = [];
    const other = await listening(context, (request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(404).end();
    });
    site.redirect = `${other}/mcp`;
    const hub = new McpHub({ secrets: async () => "hunter2-and-more" });
    context.onTestFinished(() => hub.close());
    const server = { ...site.definition, headers: { authorization: { secret: "key" } } };
    const failed = await hub.connect([server], about()).catch((error: Error) => error);
    expect(failed).toMatchObject({ code: "mcp_unavailable", message: expect.stringContaining('"site"') });
    expect(String(failed)).not.toContain("hunter2");
    expect(seen).toEqual([]);
    expect(site.authorizations).toContain("hunter2-and-more");
  });
});

test("the options of a hub are checked", () => {
  const wrong = { keepMs: -1, deadlines: { idleMs: 0, never: 1 }, maxBytes: 1 };
  // The types forbid it; programs without types do not know.
  expect(() => new McpHub(wrong as object)).toThrow(
    /no option maxBytes.*no deadline never.*idleMs is 0.*keepMs is -1/,
  );
});

/** A context for calls in which nothing happens. */
const idle = {
  scope: { tenant: "t" },
  turnRef: "turn",
  runId: "run",
  callId: "call",
  idempotencyKey: "call",
  attempt: 1,
  signal: new AbortController().signal,
  progress: () => undefined,
  last: () => undefined,
  elicit: async () => ({ action: "cancel" as const }),
};

/** A small MCP server of the older era on the web. */
class Site {
  readonly definition: ServerDefinition;
  readonly authorizations: (string | undefined)[] = [];
  redirect: string | undefined;
  #server: Server | undefined;

  private constructor(url: string) {
    this.definition = { name: "site", url };
  }

  static async open(context: TestContext): Promise<Site> {
    const handlers: { answer?: (request: IncomingMessage, response: ServerResponse) => void } = {};
    let server: Server | undefined;
    const origin = await listening(
      context,
      (request, response) => handlers.answer?.(request, response),
      (made) => {
        server = made;
      },
    );
    const site = new Site(`${origin}/mcp`);
    site.#server = server;
    handlers.answer = (request, response) => site.#answer(request, response);
    return site;
  }

  async close(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    this.authorizations.push(request.headers.authorization);
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      if (this.redirect !== undefined) response.writeHead(307, { location: this.redirect }).end();
      else if (request.method !== "POST") response.writeHead(405).end();
      else this.#reply(JSON.parse(body), response);
    });
  }

  #reply(
    { id, method, params }: { id?: number; method: string; params?: object },
    response: ServerResponse,
  ): void {
    if (id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const results: Record<string, object> = {
      initialize: { ...params, capabilities: { tools: {} }, serverInfo: { name: "site", version: "1" } },
      "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
      "tools/call": { content: [{ type: "text", text: "echo" }] },
    };
    const known = Object.hasOwn(results, method);
    const answer = known
      ? { result: results[method] }
      : { error: { code: -32601, message: "Method not found" } };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  }
}

async function listening(
  { onTestFinished }: Pick<TestContext, "onTestFinished">,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  made: (server: Server) => void = () => undefined,
): Promise<string> {
  const server = createServer(answer);
  made(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // it listens on a port
  return `http://127.0.0.1:${port}`;
}
