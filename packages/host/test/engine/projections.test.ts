import { readFileSync } from "node:fs";
import { Agent, type LogEntry } from "trackside";
import { scriptedModel } from "trackside/testing";
import { afterEach, describe, expect, test } from "vitest";
import { sqlite, Trackside } from "../../src/index.ts";
import { databaseFile } from "./support/database.ts";

const open: Trackside[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

function host(model = scriptedModel(["next"], { loop: true }), path = databaseFile()): Trackside {
  const agent = new Agent({ name: "clerk", model }) as unknown as Agent<never, never>;
  const made = new Trackside({ store: sqlite(path), agents: [agent as never] });
  open.push(made);
  return made;
}

const said = (id: string, role: "user" | "assistant", text: string): LogEntry => ({
  id,
  role,
  parts: [{ type: "text", text }],
});

const projection = (cuts: Extract<LogEntry, { role: "projection" }>["cuts"]): LogEntry => ({
  id: "p1",
  role: "projection",
  cuts,
  stubs_to: 0,
  tokens_before: 100,
  tokens_after: 10,
});

const signed = { type: "reasoning", text: "hm", provider: { anthropic: { signature: "SIGNED" } } } as const;

/** Two turns, the first of which is a summary now. */
const ENTRIES = [
  said("u1", "user", "first question"),
  said("a1", "assistant", "first answer"),
  said("u2", "user", "second question"),
  said("a2", "assistant", "second answer"),
  projection([{ from: 0, to: 2, summary: "They began." }]),
];

function lines(entries: readonly LogEntry[]): string {
  const head = { v: 1, kind: "conversation", id: "c", agent: "clerk", title: null };
  return [head, ...entries].map((one) => JSON.stringify(one)).join("\n");
}

const entriesOf = (text: string): unknown[] =>
  text
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => JSON.parse(line));

describe("B4 summaries are part of a branch's log", () => {
  test("B4 they come with it out and in, the next run uses them, and nobody sees them among the messages", async () => {
    const model = scriptedModel(["third answer"]);
    const path = databaseFile();
    const first = host(undefined, path);
    const { id } = await first.conversations.import(lines(ENTRIES));
    expect((await first.conversations.messages(id)).map((message) => message.id)).toEqual([
      "u1",
      "a1",
      "u2",
      "a2",
    ]);
    expect(entriesOf(await first.conversations.export(id))).toEqual(ENTRIES);
    await first.close();

    const { result } = await host(model, path).conversations.send(id, "third question");
    expect((await result()).messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    const prompt = JSON.stringify(model.requests[0]?.prompt);
    expect(prompt).toMatch(/summary of it.*They began\..*second question.*second answer.*third question/s);
    expect(prompt).not.toContain("first");
  });

  test("X7 B4 a branch from before a summary goes on without it, one from behind it has it too", async () => {
    const model = scriptedModel(["next"], { loop: true });
    const trackside = host(model);
    const { id } = await trackside.conversations.import(
      lines([...ENTRIES, said("u3", "user", "third question")]),
    );
    for (const [at, text, not] of [
      ["a2", "first question", "They began"],
      ["u3", "They began", "first question"],
    ] as const) {
      const branch = await trackside.conversations.branch(id, { at });
      const { result } = await trackside.conversations.send(branch.id, "go on");
      await result();
      const prompt = JSON.stringify(model.requests.at(-1)?.prompt);
      expect(prompt).toContain(text);
      expect(prompt).not.toContain(not);
    }
  });

  test("H8 what a provider signed is not in the open there either, and not in an export", async () => {
    const path = databaseFile();
    const trackside = host(undefined, path);
    const kept = {
      id: "k",
      role: "assistant" as const,
      parts: [signed, { type: "text" as const, text: "kept" }],
    };
    const entries = [
      ...ENTRIES.slice(0, 4),
      projection([{ from: 0, to: 2, summary: null, messages: [kept] }]),
    ];
    const { id } = await trackside.conversations.import(lines(entries));
    expect(await trackside.conversations.export(id)).not.toContain("SIGNED");
    await trackside.close();
    const stored = [path, `${path}-wal`].map((file) => {
      try {
        return readFileSync(file, "latin1");
      } catch {
        return ""; // folded into the database when it was closed
      }
    });
    expect(stored.join("")).toContain("second answer");
    expect(stored.join("")).not.toContain("SIGNED");

    const model = scriptedModel(["ok"]);
    const { result } = await host(model, path).conversations.send(id, "go on");
    await result();
    expect(JSON.stringify(model.requests[0]?.prompt)).toContain("SIGNED");
  });

  test("an import whose cuts reach behind themselves is refused, with its line", async () => {
    const wrong = [...ENTRIES.slice(0, 4), projection([{ from: 0, to: 9, summary: null }])];
    await expect(host().conversations.import(lines(wrong))).rejects.toThrow(
      /Line 6 is no message: it reaches to 9, and stands at 4 itself/,
    );
  });
});
