import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:net";
import { text } from "node:stream/consumers";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { guardedFetch, type UrlPolicy } from "../../src/index.ts";
import { guardedFetch as withSeams } from "../../src/net/guarded-fetch.ts";
import { REFUSED } from "./payloads.ts";
import { addressesOf, fakeDns, serverOf } from "./support.ts";

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers a request by its path; what the server was asked is kept. */
type Routes = Readonly<Record<string, (response: ServerResponse, request: IncomingMessage) => unknown>>;

/** An internet of one public server, and one inside that nobody may reach. */
async function internet(routes: Routes, policy: UrlPolicy = {}) {
  const seen: Seen[] = [];
  const trapped: string[] = [];
  const outside = await serverOf(async (request, response) => {
    const { method = "", url = "", headers } = request;
    seen.push({ method, url, headers, body: await text(request) });
    const route = routes[new URL(url, "http://x").pathname];
    if (route === undefined) response.writeHead(404).end();
    else route(response, request);
  });
  const inside = await serverOf((request, response) => {
    trapped.push(request.url ?? "");
    response.end("the inside");
  });
  /** As the machine would connect: to the public server, or to what is on it. */
  const reached: string[] = [];
  const ask = withSeams(
    { lookup: fakeDns, ...policy },
    {
      reach: ({ address }) => {
        reached.push(address);
        const port = address.startsWith("127.") ? inside.port : outside.port;
        return { to: { address: "127.0.0.1", family: 4 }, port };
      },
    },
  );
  return { ask, seen, trapped, reached, inside: inside.port };
}

const to = (status: number, location: string) => (response: ServerResponse) =>
  response.writeHead(status, { location }).end();

describe("guarded fetch", () => {
  test("asks like fetch, with the host's own name, and gives a response like fetch's", async () => {
    const { ask, seen, reached } = await internet({
      "/v1": (response) => {
        response.writeHead(
          201,
          [
            ["set-cookie", "a=1"],
            ["set-cookie", "b=2"],
            ["x-one", "1"],
          ].flat(),
        );
        response.end('{"ok":true}');
      },
    });
    const answer = await ask("http://api.example.com:8080/v1?q=%20#part", {
      method: "POST",
      headers: { authorization: "Bearer k", host: "evil", "proxy-authorization": "x", connection: "upgrade" },
      body: JSON.stringify({ a: "ü" }),
    });
    expect(answer).toBeInstanceOf(Response);
    expect([answer.status, answer.ok, answer.redirected]).toEqual([201, true, false]);
    expect(answer.url).toBe("http://api.example.com:8080/v1?q=%20#part");
    expect(answer.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(await answer.json()).toEqual({ ok: true });
    expect(reached).toEqual(["93.184.216.34"]);
    const [one] = seen;
    expect(one).toMatchObject({ method: "POST", url: "/v1?q=%20", body: '{"a":"ü"}' });
    expect(one?.headers).toMatchObject({ host: "api.example.com:8080", authorization: "Bearer k" });
    expect(one?.headers).not.toHaveProperty("proxy-authorization");
  });

  test("takes requests, URLs, forms and streams as fetch does", async () => {
    const { ask, seen } = await internet({ "/": (response) => response.end("yes") });
    await ask(new Request("http://api.example.com/", { method: "PUT", body: "from a request" }));
    await ask(new URL("http://api.example.com/"), {
      method: "POST",
      body: new URLSearchParams({ a: "1 2" }),
    });
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode("streamed"));
        controller.close();
      },
    });
    await ask("http://api.example.com/", { method: "POST", body, duplex: "half" });
    const head = await ask("http://api.example.com/", { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect(seen.map(({ method, body }) => [method, body])).toEqual([
      ["PUT", "from a request"],
      ["POST", "a=1+2"],
      ["POST", "streamed"],
      ["HEAD", ""],
    ]);
  });

  test.each(REFUSED)("does not go to %j", async (url) => {
    const { ask, reached } = await internet({});
    await expect(ask(url)).rejects.toMatchObject({ code: "url_refused" });
    expect(reached).toEqual([]);
  });

  test("connects to the address that was checked, whatever the resolver says next", async () => {
    const answers = [["93.184.216.34"], ["127.0.0.1"], ["127.0.0.1"]];
    let asked = 0;
    const lookup = async () => addressesOf(answers[asked++] ?? ["127.0.0.1"]);
    const { ask, reached, trapped } = await internet(
      { "/": (response) => response.end("public") },
      { lookup },
    );
    expect(await (await ask("http://rebind.example.com/")).text()).toBe("public");
    expect([asked, reached, trapped]).toEqual([1, ["93.184.216.34"], []]);
    await expect(ask("http://rebind.example.com/")).rejects.toMatchObject({ code: "url_refused" });
    expect([asked, reached, trapped]).toEqual([2, ["93.184.216.34"], []]);
  });

  test("asks for the certificate of the name, though it connects to an address", async () => {
    const hello = Promise.withResolvers<string>();
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", (bytes) => {
        hello.resolve(bytes.toString("latin1"));
        socket.destroy();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = address !== null && typeof address === "object" ? address.port : 0;
    const ask = guardedFetch({
      allow: [`127.0.0.1:${port}`],
      lookup: async () => addressesOf(["127.0.0.1"]),
    });
    await expect(ask(`https://named.example.com:${port}/`)).rejects.toMatchObject({
      message: "fetch failed",
    });
    expect(await hello.promise).toContain("named.example.com");
  });

  test("without a seam, too: a name goes to the address that was checked", async () => {
    const { port } = await serverOf((request, response) => response.end(request.headers.host));
    const lookups: string[] = [];
    const lookup = async (name: string) => {
      lookups.push(name);
      return addressesOf(["127.0.0.1"]);
    };
    const ask = guardedFetch({ allow: [`127.0.0.1:${port}`], lookup });
    expect(await (await ask(`http://model.example.com:${port}/`)).text()).toBe(`model.example.com:${port}`);
    expect(await (await ask(`http://127.0.0.1:${port}/`)).text()).toBe(`127.0.0.1:${port}`);
    expect(lookups).toEqual(["model.example.com"]);
    const strict = guardedFetch({ lookup });
    for (const host of ["model.example.com", "127.0.0.1", "localhost"])
      await expect(strict(`http://${host}:${port}/`)).rejects.toMatchObject({ code: "url_refused" });
  });
});

describe("redirects", () => {
  test("are followed three times, and not a fourth", async () => {
    const routes: Routes = {
      "/1": to(302, "/2"),
      "/2": to(307, "http://dual.example.com/3"),
      "/3": to(308, "4"),
      "/4": (response) => response.end("there"),
      "/0": to(301, "/1"),
      "/round": to(302, "/round"),
    };
    const { ask, seen } = await internet(routes);
    const answer = await ask("http://api.example.com/1");
    expect([await answer.text(), answer.redirected, answer.url]).toEqual([
      "there",
      true,
      "http://dual.example.com/4",
    ]);
    for (const path of ["/0", "/round"])
      await expect(ask(`http://api.example.com${path}`)).rejects.toThrow(/redirect.*more than 3/);
    expect(seen).toHaveLength(4 + 4 + 4);
  });

  test.each(REFUSED.filter((url) => /^[a-z][a-z0-9+.-]*:/i.test(url) && !/[^\x21-\x7e]/.test(url)))(
    "to %j are refused",
    async (location) => {
      const { ask, trapped, reached } = await internet({ "/": to(302, location) });
      await expect(ask("http://api.example.com/")).rejects.toMatchObject({ code: "url_refused" });
      expect([trapped, reached]).toEqual([[], ["93.184.216.34"]]);
    },
  );

  test.each(["//127.0.0.1/", "\\\\127.0.0.1\\", "/\\127.0.0.1/", "//2130706433/", "///127.0.0.1/"])(
    "that are relative, to %j, are refused too",
    async (location) => {
      const { ask, trapped } = await internet({ "/": to(302, location) });
      await expect(ask("http://api.example.com/")).rejects.toMatchObject({ code: "url_refused" });
      expect(trapped).toEqual([]);
    },
  );

  test("to another host carry no keys, and to the same one do", async () => {
    const { ask, seen } = await internet({
      "/same": to(302, "/end"),
      "/other": to(302, "http://dual.example.com/end"),
      "/port": to(302, "http://api.example.com:8080/end"),
      "/end": (response) => response.end(),
    });
    const headers = {
      authorization: "Bearer k",
      cookie: "c",
      "x-api-key": "k",
      "x-goog-api-key": "k",
      accept: "a/b",
    };
    for (const path of ["/same", "/other", "/port"]) await ask(`http://api.example.com${path}`, { headers });
    const ends = seen.filter(({ url }) => url === "/end").map((one) => one.headers);
    expect(ends[0]).toMatchObject(headers);
    for (const end of ends.slice(1)) {
      expect(end["accept"]).toBe("a/b");
      for (const name of ["authorization", "cookie", "x-api-key", "x-goog-api-key"])
        expect(end).not.toHaveProperty(name);
    }
  });

  test("keep a body with its host, and turn a post into a get where the standard says so", async () => {
    const { ask, seen } = await internet({
      "/302": to(302, "/end"),
      "/303": to(303, "http://dual.example.com/end"),
      "/307": to(307, "/end"),
      "/away": to(307, "http://dual.example.com/end"),
      "/end": (response) => response.end(),
    });
    const post = { method: "POST", body: "{}", headers: { "content-type": "application/json" } };
    for (const path of ["/302", "/303", "/307"]) await ask(`http://api.example.com${path}`, post);
    await expect(ask("http://api.example.com/away", post)).rejects.toThrow(
      /another host, "dual\.example\.com"/,
    );
    expect(seen.filter(({ url }) => url === "/end").map(({ method, body }) => [method, body])).toEqual([
      ["GET", ""],
      ["GET", ""],
      ["POST", "{}"],
    ]);
  });

  test("are given back or refused where the caller says so", async () => {
    const { ask } = await internet({ "/": to(302, "http://127.0.0.1/") });
    const answer = await ask("http://api.example.com/", { redirect: "manual" });
    expect([answer.status, answer.headers.get("location")]).toEqual([302, "http://127.0.0.1/"]);
    await expect(ask("http://api.example.com/", { redirect: "error" })).rejects.toMatchObject({
      code: "url_refused",
    });
  });
});

describe("what comes back", () => {
  test("is bounded in size, also once it is unpacked", async () => {
    const zeros = Buffer.alloc(3_000_000);
    const packed = (coding: string, bytes: Buffer) => (response: ServerResponse) =>
      response.writeHead(200, { "content-encoding": coding }).end(bytes);
    const { ask } = await internet(
      {
        "/small": packed("gzip", gzipSync("small")),
        "/deflate": packed("deflate", deflateSync("small")),
        "/br": packed("br", brotliCompressSync("small")),
        "/unknown": packed("zz", Buffer.from("as it is")),
        "/bomb": packed("gzip", gzipSync(zeros)),
        "/bomb-br": packed("br", brotliCompressSync(zeros)),
        "/large": (response) => response.end(zeros),
        "/endless": (response) => {
          const more = () => {
            while (!response.destroyed && response.write(zeros.subarray(0, 65_536)));
          };
          response.on("drain", more);
          more();
        },
        "/broken": packed("gzip", Buffer.from("this is no gzip")),
      },
      { maxBytes: 1_000_000 },
    );
    for (const path of ["/small", "/deflate", "/br"]) {
      const answer = await ask(`http://api.example.com${path}`);
      expect([await answer.text(), answer.headers.get("content-encoding")]).toEqual(["small", null]);
    }
    const unknown = await ask("http://api.example.com/unknown");
    expect([await unknown.text(), unknown.headers.get("content-encoding")]).toEqual(["as it is", "zz"]);
    for (const path of ["/bomb", "/bomb-br", "/large", "/endless"])
      await expect((await ask(`http://api.example.com${path}`)).text(), path).rejects.toMatchObject({
        code: "response_too_large",
      });
    await expect((await ask("http://api.example.com/broken")).text()).rejects.toThrow(/fetch failed/);
  });

  test("comes as it is sent", async () => {
    let next: (() => void) | undefined;
    const { ask } = await internet({
      "/": (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write("data: 1\n\n");
        next = () => response.end("data: 2\n\n");
      },
    });
    const answer = await ask("http://api.example.com/");
    const got: string[] = [];
    for await (const chunk of answer.body ?? []) {
      got.push(Buffer.from(chunk).toString());
      next?.();
    }
    expect(got.join("")).toBe("data: 1\n\ndata: 2\n\n");
    expect(got[0]).toBe("data: 1\n\n");
  });

  test("is bounded in time: connecting, silence, and the whole of it", async () => {
    const routes: Routes = {
      "/silent": () => {},
      "/stuck": (response) => response.write("some"),
      "/slow": (response) => {
        const timer = setInterval(() => response.write("."), 5);
        response.on("close", () => clearInterval(timer));
      },
    };
    const never = await internet(routes, { connectMs: 20, lookup: () => new Promise(() => {}) });
    await expect(never.ask("http://api.example.com/")).rejects.toMatchObject({
      cause: { code: "request_timeout" },
    });
    const idle = await internet(routes, { idleMs: 100 });
    await expect(idle.ask("http://api.example.com/silent")).rejects.toMatchObject({
      message: "fetch failed",
      cause: { code: "request_timeout" },
    });
    const stuck = idle.ask("http://api.example.com/stuck").then((answer) => answer.text());
    await expect(stuck).rejects.toMatchObject({ cause: { code: "request_timeout" } });
    const total = await internet(routes, { totalMs: 300 });
    const slow = total.ask("http://api.example.com/slow").then((answer) => answer.text());
    await expect(slow).rejects.toMatchObject({ cause: { code: "request_timeout" } });
  });

  test("ends when the caller has had enough, with their reason, and the connection with it", async () => {
    let closed: Promise<unknown> | undefined;
    const { ask } = await internet({
      "/": (response) => {
        closed = once(response, "close");
        response.write("some");
      },
      "/silent": (response) => {
        closed = once(response, "close");
      },
    });
    const early = AbortSignal.abort(new Error("not even begun"));
    await expect(ask("http://api.example.com/", { signal: early })).rejects.toThrow("not even begun");
    const cancelled = await ask("http://api.example.com/");
    await cancelled.body?.cancel();
    await closed;
    const stop = new AbortController();
    const answer = await ask("http://api.example.com/", { signal: stop.signal });
    const reading = answer.text();
    stop.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
    await closed;
    const waiting = new AbortController();
    const silent = ask("http://api.example.com/silent", { signal: waiting.signal });
    setTimeout(() => waiting.abort(new Error("waited")), 20);
    await expect(silent).rejects.toThrow("waited");
  });

  test("that cannot be reached, or breaks off, fails as fetch does", async () => {
    const { ask } = await internet({
      "/cut": (response) => {
        response.writeHead(200, { "content-length": "100" });
        response.write("some");
        setTimeout(() => response.destroy(), 10);
      },
      "/garbage": (response) => response.socket?.end("this is no HTTP\r\n\r\n"),
      "/odd": (response) => response.socket?.end("HTTP/1.1 999 What\r\ncontent-length: 0\r\n\r\n"),
    });
    const cut = ask("http://api.example.com/cut").then((answer) => answer.text());
    await expect(cut).rejects.toThrow(TypeError);
    for (const path of ["/garbage", "/odd"])
      await expect(ask(`http://api.example.com${path}`)).rejects.toMatchObject({ message: "fetch failed" });
    const { port, server } = await serverOf(() => {});
    await new Promise((resolve) => server.close(resolve));
    const gone = guardedFetch({ allow: [`127.0.0.1:${port}`] })(`http://127.0.0.1:${port}/`);
    await expect(gone).rejects.toMatchObject({ message: "fetch failed", cause: { code: "ECONNREFUSED" } });
    await expect(ask("http://nobody.example.com/")).rejects.toMatchObject({
      cause: { code: "url_unresolved" },
    });
  });
});
