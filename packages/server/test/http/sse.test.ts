import { connect, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { Agent } from "trackside";
import { scriptedModel } from "trackside/testing";
import { expect, test } from "vitest";
import { keepConnection } from "../../src/http/connections.ts";
import { eventStream, formatEvent, type ServerEvent } from "../../src/http/sse.ts";
import { clerk, openRoom, until } from "./support/room.ts";

const request = (headers: Record<string, string> = {}) => new Request("http://127.0.0.1/", { headers });

test("an event has its id, its type and a line for each line", () => {
  expect(formatEvent({ id: "7", event: "text", data: { a: "x\ny" } })).toBe(
    'event: text\nid: 7\ndata: {"a":"x\\ny"}\n\n',
  );
  expect(formatEvent({ data: "one\r\ntwo\rthree" })).toBe("data: one\ndata: two\ndata: three\n\n");
  expect(formatEvent({ id: "1\ndata: evil", event: "a\0b", data: "" })).toBe(
    "event: a b\nid: 1 data: evil\ndata: \n\n",
  );
});

test("the last id goes before what the address says", async () => {
  const seen: (string | undefined)[] = [];
  async function* events(after: string | undefined): AsyncGenerator<ServerEvent> {
    seen.push(after);
    yield { data: "x" };
  }
  const { signal } = new AbortController();
  await eventStream({ request: request({ "last-event-id": "9" }), signal }, { after: "3", events }).text();
  await eventStream({ request: request(), signal }, { after: "3", events }).text();
  expect(seen).toEqual(["9", "3"]);
});

/** Everything that a stream does by itself takes turns of the event loop and no time. */
async function turns(): Promise<void> {
  for (let i = 0; i < 1000; i++) await turn();
}

test("what a reader does not take is not asked of the source", async () => {
  let made = 0;
  async function* events(): AsyncGenerator<ServerEvent> {
    for (;;) {
      made += 1;
      yield { data: "x".repeat(1000) };
    }
  }
  const stop = new AbortController();
  const reader = eventStream({ request: request(), signal: stop.signal }, { events }).body?.getReader();
  await reader?.read();
  await turns();
  const before = made;
  expect(before).toBeLessThan(300);
  await turns();
  expect(made).toBe(before);
  await reader?.cancel();
});

test("a reader that leaves, or a server that closes, ends the source", async () => {
  for (const how of ["reader", "server"]) {
    let ended = false;
    const stop = new AbortController();
    async function* events(_after: string | undefined, signal: AbortSignal): AsyncGenerator<ServerEvent> {
      try {
        yield { data: "x" };
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      } finally {
        ended = true;
      }
    }
    const { body } = eventStream({ request: request(), signal: stop.signal }, { events });
    const reader = body?.getReader();
    await reader?.read();
    if (how === "reader") await reader?.cancel();
    else {
      stop.abort();
      while (!(await reader?.read())?.done);
    }
    await until(async () => ended || undefined);
  }
});

test("a reader that takes nothing for too long is cut off", async () => {
  async function* events(): AsyncGenerator<ServerEvent> {
    for (;;) yield { data: "x".repeat(10_000) };
  }
  const asked = request();
  const dropped = new Promise<void>((drop) => {
    keepConnection(asked, {
      drop,
      problem: () => ({ type: "", title: "", status: 500, detail: "", code: "" }),
    });
  });
  eventStream({ request: asked, signal: new AbortController().signal }, { events, stalledMs: 1 });
  await dropped;
});

test("a silent stream says now and then that it lives", async () => {
  const stop = new AbortController();
  async function* events(_after: string | undefined, signal: AbortSignal): AsyncGenerator<ServerEvent> {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  }
  const { body } = eventStream({ request: request(), signal: stop.signal }, { events, heartbeatMs: 1 });
  let text = "";
  for await (const chunk of body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.includes("\n:\n\n") || text.endsWith(":\n\n")) stop.abort();
  }
  expect(text).toMatch(/^retry: \d+\n\n/);
});

const WORD = "word ";
const COUNT = 200;
const WORDS = WORD.repeat(COUNT);

/** Says the words one by one, each when `pace` resolves. */
const talker = (pace: () => Promise<void>) =>
  new Agent({
    name: "talker",
    model: scriptedModel([{ text: WORDS, chunkDelayMs: 1 }], { chunk: WORD.length, sleep: pace }),
  });

interface Seen {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly type: string; readonly text?: string; readonly status?: string };
}

async function* read(response: Response): AsyncGenerator<Seen> {
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      const field = (name: string) => block.match(new RegExp(`^${name}: (.*)$`, "m"))?.[1] ?? "";
      if (block.includes("data: "))
        yield { id: field("id"), type: field("event"), data: JSON.parse(field("data")) };
    }
  }
}

test("E4 a reader that comes back with its last id ends with the same transcript", async () => {
  // The model is at most 20 words ahead of the reader, so that the run goes on while the reader is away.
  let said = 0;
  let heard = 0;
  const pace = async () => {
    await until(async () => said - heard < 20 || undefined);
    said += 1;
  };
  const room = await openRoom({ host: { agents: [talker(pace)] } });
  const { run_id } = await room.client("operator").startRun({ body: { agent: "talker", input: "Talk" } });
  const whole: Seen[] = [];
  let last: string | undefined;
  let visits = 0;
  for (let over = false; !over; ) {
    const headers = last === undefined ? {} : { "last-event-id": last };
    const response = await room.send(`/runs/${run_id}/stream`, { as: "viewer", headers });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    visits += 1;
    const before = heard;
    for await (const seen of read(response)) {
      whole.push(seen);
      last = seen.id;
      over = seen.data.type === "status" && seen.data.status === "completed";
      if (seen.type === "text_delta") heard += (seen.data.text ?? "").length / WORD.length;
      if (heard - before >= 25 && heard < COUNT - 50) break;
    }
  }
  expect(visits).toBeGreaterThan(3);
  const deltas = whole.filter(({ type }) => type === "text_delta").map(({ data }) => data.text);
  expect(deltas.join("")).toBe(WORDS);
  expect(whole.filter(({ type }) => type === "text").map(({ data }) => data.text)).toEqual([WORDS]);
});

test("E4 a reader that takes nothing does not slow a run", async () => {
  const connected = Promise.withResolvers<void>();
  const room = await openRoom({ host: { agents: [talker(() => connected.promise)] } });
  const { run_id } = await room.client("operator").startRun({ body: { agent: "talker", input: "Talk" } });
  const { port } = new URL(room.url);
  const socket: Socket = await new Promise((resolve) => {
    const made = connect(Number(port), "127.0.0.1", () => resolve(made));
  });
  const auth = `Authorization: Bearer ${room.tokens.viewer}`;
  socket.write(`GET /api/v1/runs/${run_id}/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n${auth}\r\n\r\n`);
  socket.once("data", () => {
    socket.pause();
    connected.resolve();
  });
  const { output } = await room.trackside.runs.result(run_id);
  expect(output).toBe(WORDS);
  socket.destroy();
});

test("streams end when the server closes, at once", async () => {
  const never = new Promise<void>(() => {});
  const room = await openRoom({ host: { agents: [clerk(), talker(() => never)] } });
  const { run_id } = await room.client("operator").startRun({ body: { agent: "talker", input: "Talk" } });
  const response = await room.send(`/runs/${run_id}/stream`, { as: "viewer" });
  const ending = (async () => {
    for await (const _ of read(response));
  })().catch(() => {});
  await room.server.close({ graceMs: 30_000 });
  await ending;
});

test("a cursor that is none is a problem the stream tells", async () => {
  const room = await openRoom();
  const { run_id } = await room.client("operator").startRun({ body: { agent: "clerk", input: "Hi" } });
  const response = await room.send(`/runs/${run_id}/stream`, {
    as: "viewer",
    headers: { "last-event-id": "rubbish" },
  });
  const seen: Seen[] = [];
  for await (const one of read(response)) seen.push(one);
  expect(seen.map(({ type, data }) => [type, (data as { code?: string }).code])).toEqual([
    ["problem", "cursor_invalid"],
  ]);
});
