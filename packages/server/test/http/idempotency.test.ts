import { manualClock } from "trackside/testing";
import { beforeAll, expect, test } from "vitest";
import { problem } from "../../src/contract/index.ts";
import { type Caller, openRoom, type Room, until } from "./support/room.ts";

let room: Room;
beforeAll(async () => {
  room = await openRoom();
});

let keys = 0;
const newKey = () => `key-${++keys}`;

const send = (
  path: string,
  key: string,
  body: unknown,
  { as = "admin" as Caller, method = "POST", in: at = room } = {},
) =>
  at.send(path, {
    method,
    as,
    headers: { "idempotency-key": key },
    ...(method === "DELETE" ? {} : { body: JSON.stringify(body) }),
  });

/** What is looked at in answers. */
interface Said {
  readonly id: string;
  readonly run_id: string;
  readonly secret: string;
}
const said = async (answer: Response | Promise<Response>) => (await (await answer).json()) as Said; // whichever it is

test("X10 the same key and request again get the first answer, and nothing happens twice", async () => {
  const key = newKey();
  const body = { agent: "clerk", input: "Hello" };
  const first = await send("/runs", key, body);
  const again = await send("/runs", key, body);
  expect([first.status, again.status]).toEqual([202, 202]);
  expect(first.headers.get("idempotency-replayed")).toBeNull();
  expect(again.headers.get("idempotency-replayed")).toBe("true");
  const answer = await said(first);
  expect(await again.json()).toEqual(answer);
  const { items } = await room.client("admin").listRuns({});
  expect(items.map(({ id }) => id)).toEqual([answer.run_id]);
});

test("X10 a secret that is shown once is shown to who asks again with the key, and is not in the database", async () => {
  const key = newKey();
  const first = await said(send("/tokens", key, { name: "mine", role: "viewer" }));
  const again = await said(send("/tokens", key, { name: "mine", role: "viewer" }));
  expect(first.secret).toMatch(/^tsk_/);
  expect(again.secret).toBe(first.secret);
});

test("X10 of many at once one is done, and all are told the same", async () => {
  const key = newKey();
  const before = (await room.client("admin").listTokens()).items.length;
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => send("/tokens", key, { name: "racing", role: "viewer" })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  const ids = await Promise.all(answers.map(async (answer) => (await said(answer)).id));
  expect(new Set(ids).size).toBe(1);
  expect((await room.client("admin").listTokens()).items.length).toBe(before + 1);
});

test("X10 a key that was used for something else is refused", async () => {
  const key = newKey();
  await send("/conversations", key, { title: "one" });
  for (const other of [
    await send("/conversations", key, { title: "two" }),
    await send("/tokens", key, { name: "x", role: "viewer" }),
  ]) {
    expect(problem.parse(await other.json())).toMatchObject({ status: 422, code: "idempotency_key_reused" });
  }
});

test("X10 callers do not share keys", async () => {
  const key = newKey();
  const mine = await said(send("/conversations", key, { title: "same" }));
  const theirs = await said(send("/conversations", key, { title: "same" }, { as: "operator" }));
  const elsewhere = await said(send("/conversations", key, { title: "same" }, { as: "stranger" }));
  expect(new Set([mine.id, theirs.id, elsewhere.id]).size).toBe(3);
});

test("X10 a refusal is an answer, too; a request that could not be read is none", async () => {
  const key = newKey();
  const refused = () => send("/agents/nobody/clone", key, { name: "copy" });
  const first = await refused();
  const again = await refused();
  expect([first.status, again.status]).toEqual([404, 404]);
  expect(again.headers.get("idempotency-replayed")).toBe("true");
  expect(again.headers.get("content-type")).toBe("application/problem+json");

  const other = newKey();
  expect((await send("/conversations", other, { titel: "x" })).status).toBe(400);
  expect((await send("/conversations", other, { title: "x" })).status).toBe(201);
});

test("X10 what failed here is tried again", async () => {
  const broken = await openRoom();
  const key = newKey();
  const create = broken.trackside.conversations.create;
  broken.trackside.conversations.create = () => Promise.reject(new Error("lost"));
  expect((await send("/conversations", key, {}, { in: broken })).status).toBe(500);
  broken.trackside.conversations.create = create;
  expect((await send("/conversations", key, {}, { in: broken })).status).toBe(201);
});

test("X10 deleting twice with a key is deleting once", async () => {
  const { id } = await room.client("admin").createConversation({ body: {} });
  const key = newKey();
  const remove = () => send(`/conversations/${id}`, key, undefined, { method: "DELETE" });
  expect([(await remove()).status, (await remove()).status]).toEqual([204, 204]);
});

test.each(["", "x".repeat(256), "with space", "tab\tbed"])("X10 the key %j is refused", async (key) => {
  const answer = await send("/conversations", key, {});
  expect(problem.parse(await answer.json())).toMatchObject({ status: 400, code: "idempotency_key" });
});

test("X10 a server that died before it answered does not run it twice", async () => {
  const first = await openRoom();
  const key = newKey();
  const body = { agent: "clerk", input: "Hello" };
  // The answer is lost on its way into the store, as if the process had died there.
  first.trackside.answers.keep = () => new Promise(() => {});
  void send("/runs", key, body, { in: first }).catch(() => {});
  const run = await until(async () => (await first.client("admin").listRuns({})).items[0]);
  await first.close();

  const clock = manualClock(Date.now() + 120_000); // the claim of the dead one has lapsed
  const second = await openRoom({ dir: first.dir, host: { clock } });
  const answer = await send("/runs", key, body, { in: second });
  expect(await answer.json()).toMatchObject({ run_id: run.id });
  expect((await second.client("admin").listRuns({})).items.map(({ id }) => id)).toEqual([run.id]);
});

test("X10 while somebody else is at it, the second waits or is told to come back", async () => {
  const key = newKey();
  const { answers } = room.trackside;
  const ask = answers.ask;
  let looked = 0;
  answers.ask = async (given) => {
    looked += 1;
    return looked < 3 ? { state: "running" } : ask.call(answers, given);
  };
  try {
    expect((await send("/conversations", key, {})).status).toBe(201);
    expect(looked).toBe(3);
  } finally {
    answers.ask = ask;
  }
});

test("X12 what was answered is forgotten with the conversations of a tenant, that it was done is not", async () => {
  const key = newKey();
  await send("/conversations", key, { title: "private words" });
  const { id } = await room.client("admin").createConversation({ body: {} });
  await room.client("admin").deleteConversation({ params: { id } });
  const again = await send("/conversations", key, { title: "private words" });
  expect(problem.parse(await again.json())).toMatchObject({ status: 409, code: "answer_erased" });
});
