import { expect, test, vi } from "vitest";
import { Connection } from "./connection.ts";
import { followEvents, type ServerEvent, type StreamState } from "./events.ts";
import { many, numberOf, one, parseSearch, stringifySearch } from "./search.ts";
import { type SseEvent, SseReader } from "./sse.ts";
import { titleOf } from "./title.ts";
import { heldRows } from "./ui/held-rows.ts";

const TEXT =
  ': hello\n\nid: 7\nevent: step\ndata: {"a":1}\ndata: more\n\nretry: 250\ndata\n\r\ndata:x\r\n\r\nid: 8\ndata: é\r\r';

function read(pieces: string[]): SseEvent[] {
  const events: SseEvent[] = [];
  const reader = new SseReader((event) => events.push(event));
  for (const piece of pieces) reader.push(piece);
  return events;
}

test("a stream of events reads the same however it is cut", () => {
  const whole = read([TEXT, "\n"]);
  expect(whole).toEqual([
    { type: "step", data: '{"a":1}\nmore', id: "7" },
    { type: "message", data: "", id: "7" },
    { type: "message", data: "x", id: "7" },
    { type: "message", data: "é", id: "8" },
  ]);
  for (let at = 0; at <= TEXT.length; at += 1)
    expect(read([TEXT.slice(0, at), TEXT.slice(at), "\n"])).toEqual(whole);
  expect(read([...TEXT, "\n"])).toEqual(whole);
});

test("an event that was cut off is not told", () => {
  expect(read(["data: half"])).toEqual([]);
  expect(read(["data: half\n"])).toEqual([]);
});

/** A server that answers each attempt in turn, and remembers what it was asked with. */
function serverOf(...answers: (Response | Error)[]) {
  const asked: (string | null)[] = [];
  const fetch = vi.fn(async (_url: unknown, init?: RequestInit) => {
    asked.push(new Headers(init?.headers).get("last-event-id"));
    const answer = answers.shift() ?? new Response(null, { status: 204 });
    if (answer instanceof Error) throw answer;
    return answer;
  });
  return { fetch: fetch as unknown as typeof globalThis.fetch, asked };
}

const stream = (text: string) => new Response(text, { headers: { "content-type": "text/event-stream" } });

async function follow(server: ReturnType<typeof serverOf>, lastEventId?: string) {
  const events: ServerEvent[] = [];
  const states: StreamState[] = [];
  await new Promise<void>((resolve) => {
    followEvents("/x", {
      fetch: server.fetch,
      lastEventId,
      wait: () => 0,
      onEvent: (event) => events.push(event),
      onState: (state) => {
        states.push(state);
        if (state === "ended") resolve();
      },
    });
  });
  return { events, states };
}

test("after a break a reader resumes behind the last event it saw, and stops when told that it is over", async () => {
  const server = serverOf(
    stream('id: 1\ndata: {"n":1}\n\nid: 2\ndata: {"n":2}\n\n'),
    stream("id: 3\ndata: three\n\n"),
  );
  const { events, states } = await follow(server, "0");
  expect(server.asked).toEqual(["0", "2", "3"]);
  expect(events.map((event) => event.data)).toEqual([{ n: 1 }, { n: 2 }, "three"]);
  expect(states).toEqual(["open", "open", "ended"]);
});

test("one break is not worth a word, the second in a row is", async () => {
  const down = () => new TypeError("fetch failed");
  expect((await follow(serverOf(down()))).states).toEqual(["ended"]);
  expect((await follow(serverOf(down(), new Response("", { status: 503 })))).states).toEqual([
    "offline",
    "ended",
  ]);
});

test("a paused reader lets go of its connection and goes on behind the last event", async () => {
  const asked: (string | null)[] = [];
  const events: unknown[] = [];
  let letGo = 0;
  const fetch = (async (_url: unknown, init?: RequestInit) => {
    asked.push(new Headers(init?.headers).get("last-event-id"));
    if (asked.length > 1) return new Response(null, { status: 204 });
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode("id: 5\ndata: 5\n\n"));
        init?.signal?.addEventListener("abort", () => {
          letGo += 1;
          controller.error(init.signal?.reason);
        });
      },
    });
    return new Response(body);
  }) as typeof globalThis.fetch;
  await new Promise<void>((resolve) => {
    const stream = followEvents("/x", {
      fetch,
      wait: () => 0,
      onEvent: (event) => {
        events.push(event.data);
        stream.pause();
        stream.hurry();
        setTimeout(() => {
          expect([asked.length, letGo]).toEqual([1, 1]);
          stream.resume();
        });
      },
      onState: (state) => state === "ended" && resolve(),
    });
  });
  expect(asked).toEqual([null, "5"]);
  expect(events).toEqual([5]);
});

test("what is refused is not asked for again", async () => {
  const server = serverOf(new Response("", { status: 404 }));
  expect((await follow(server)).states).toEqual(["ended"]);
  expect(server.asked).toHaveLength(1);
});

test("the server counts as away from the first failure to the first answer, and its return is told once", async () => {
  const answers = [false, true];
  const back = vi.fn();
  const connection = new Connection(
    async () => answers.shift() ?? true,
    () => 0,
  );
  const returned = new Promise<void>((resolve) => {
    connection.onComeback(() => {
      back();
      resolve();
    });
  });
  connection.failed("api");
  connection.failed("stream");
  expect(connection.isDown()).toBe(true);
  await returned;
  expect(connection.isDown()).toBe(false);
  connection.worked("api");
  expect(back).toHaveBeenCalledTimes(1);
  expect(answers).toEqual([]);
});

test("a query string is plain, keeps several values, and knows no prototype", () => {
  const search = parseSearch("?status=running&status=waiting&agent=a%26b&from=12&__proto__=x");
  expect(many(search, "status")).toEqual(["running", "waiting"]);
  expect(one(search, "agent")).toBe("a&b");
  expect([numberOf(search, "from"), numberOf(search, "agent"), numberOf(search, "none")]).toEqual([
    12,
    undefined,
    undefined,
  ]);
  expect({}).not.toHaveProperty("x");
  expect(
    stringifySearch({ status: ["running", "waiting"], agent: "a&b", none: undefined, empty: "", zero: 0 }),
  ).toBe("?status=running&status=waiting&agent=a%26b&zero=0");
  expect(stringifySearch({})).toBe("");
});

test("the title counts what is pending first", () => {
  expect([titleOf("Inbox", 0), titleOf("Inbox", 3), titleOf("", 100)]).toEqual([
    "Inbox · Trackside",
    "(3) Inbox · Trackside",
    "(99+) Trackside",
  ]);
});

test("new rows wait, shown ones change in place, and a row under the pointer stays when it is gone", () => {
  const kept = new Map([
    ["a", "a1"],
    ["b", "b1"],
  ]);
  const live = new Map([
    ["c", "c2"],
    ["b", "b2"],
  ]);
  const held = heldRows(["a", "b"], live, kept, true);
  expect([...held.rows.values()]).toEqual(["a1", "b2"]);
  expect(held.waiting).toBe(1);
  expect([...heldRows(["a", "b"], live, kept, false).rows.values()]).toEqual(["b2"]);
});
