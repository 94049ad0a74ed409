import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Agent, defineTool } from "trackside";
import { hostileEngine, sandboxEngine, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { dry } from "../../src/local/dry.ts";
import { agentDefinition } from "../../src/schema/index.ts";
import { loadInSandbox } from "../../src/testing/sandbox-engine.ts";
import { type CommitRow, Divergence, driveJournal, type JournalHost } from "../../src/turn/journal.ts";

const definition = agentDefinition.parse({ name: "a", model: "openai:x" });
const agent = {
  definition,
  points: [],
  pre_hooks: false,
  post_hooks: false,
  held_by: [],
  servers: false,
  team: {},
};
const turn = { run_id: "r", turn_ref: "t", log: 0, message_id: "r.user" };
const call = { id: "r.main.1.0", index: 0, tool: "t" };

/** A journal in memory whose effects answer from a table. */
class Memory implements JournalHost {
  readonly rows: CommitRow[];
  readonly begun: string[] = [];
  called = false;
  readonly #answers: Record<string, unknown>;
  readonly #ready: string[] = [];

  constructor(answers: Record<string, unknown>, rows: CommitRow[] = []) {
    this.#answers = answers;
    this.rows = rows;
  }

  commit(row: CommitRow): void {
    this.rows.push(JSON.parse(JSON.stringify(row)));
  }

  isCrowded(): boolean {
    return false;
  }

  begin({ key }: { key: string }): void {
    if (this.begun.includes(key)) return;
    this.begun.push(key);
    this.#ready.push(key);
  }

  async next() {
    const key = this.#ready.shift();
    if (key === undefined) throw new Error("nothing is under way");
    return { key, result: this.#answers[key] ?? { inbox: [] } };
  }

  cancel(): void {}

  dry(): Promise<void> {
    return dry();
  }

  restart(): boolean {
    return false;
  }
}

function temporaryFile(): string {
  return join(temporaryFolder("sandbox"), "loop.ts");
}

const answers = {
  "1/model/1": { message_id: "m1", calls: [call] },
  "1/0/tool/1": { message_id: "m1.r" },
  "2/model/1": { message_id: "m2", has_text: true },
};

describe("a journalled run", () => {
  test("X2 writes one row for each delivery, with its events and what it set going, before that starts", async () => {
    const host = new Memory(answers);
    await driveJournal(agent, turn, host);
    expect(host.rows.map((row) => [row.key, row.begun])).toEqual([
      ["@open", ["1/model/1"]],
      ["1/model/1", ["1/0/tool/1"]],
      ["1/0/tool/1", ["2/model/1"]],
      ["2/model/1", []],
    ]);
    expect(host.rows[0]?.notes.at(-1)).toEqual({ type: "step", step: 1, state: "started" });
    expect(host.rows.filter((row) => row.state).map((row) => row.key)).toEqual(["@open", "1/0/tool/1"]);
    expect(host.rows.filter((row) => row.ended).map((row) => row.key)).toEqual(["2/model/1"]);
  });

  test("X6 a boundary is a delivery of its own when something came in, and replays as it was", async () => {
    const inbox = [{ message_id: "s1", receipt: "s1" }];
    const first = new Memory({ ...answers, "@boundary/1": { inbox } });
    first.called = true;
    const ended = await driveJournal(agent, turn, first);
    expect(first.rows.map((row) => row.key)).toContain("@boundary/1");
    expect(first.rows.flatMap((row) => row.notes)).toContainEqual({ type: "logged", message_ids: ["s1"] });
    for (let kept = 1; kept < first.rows.length; kept++) {
      const host = new Memory({ ...answers, "@boundary/1": { inbox } }, first.rows.slice(0, kept));
      host.called = true;
      expect(await driveJournal(agent, turn, host)).toEqual(ended);
      expect(host.rows).toEqual(first.rows);
    }
  });

  test("X2 goes on from any row, repeats no finished effect and writes the same rows", async () => {
    const first = new Memory(answers);
    const ended = await driveJournal(agent, turn, first);
    for (let kept = 1; kept < first.rows.length; kept++) {
      const rows = first.rows.slice(0, kept);
      const host = new Memory(answers, [...rows]);
      expect(await driveJournal(agent, turn, host)).toEqual(ended);
      expect(host.rows).toEqual(first.rows);
      const finished = rows.map((row) => row.key);
      expect(host.begun.filter((key) => finished.includes(key))).toEqual([]);
    }
  });

  test("X2 a replay that asks for something else is a divergence that shows both", async () => {
    const first = new Memory(answers);
    await driveJournal(agent, turn, first);
    const rows = first.rows.slice(0, 2).map((row) => ({ ...row }));
    const changed = { ...rows[1], begun: ["1/0/tool/1", "1/1/tool/1"] } as CommitRow;
    const host = new Memory(answers, [...rows.slice(0, 1), changed]);
    await expect(driveJournal(agent, turn, host)).rejects.toThrow(Divergence);
  });
});

describe("the hostile world and the sandbox catch what they are there for", () => {
  test("X1 the hostile world starts the loop again after every delivery", async () => {
    let replayed = { lives: 0, deliveries: 0 };
    const noop = defineTool({ name: "noop", execute: () => "ok" });
    const model = scriptedModel([{ calls: [{ tool: "noop" }, { tool: "noop" }] }, "done"]);
    const engine = hostileEngine({ onReplayed: (counts) => (replayed = counts) });
    await new Agent({ name: "a", model, tools: [noop] }).run("go", { engine });
    expect(replayed.lives).toBeGreaterThanOrEqual(4); // opening, model, two tools, boundaries that are called; the last delivery ends it
    expect(replayed.deliveries).toBeGreaterThan(replayed.lives);
  });

  test("X1 what handlers are given and give back is frozen JSON", async () => {
    const model = scriptedModel(["done"]);
    const result = await new Agent({ name: "a", model }).run("go", { engine: hostileEngine() });
    expect(result.messages.every((message) => Object.isFrozen(message) && Object.isFrozen(message.id))).toBe(
      true,
    );
  });

  test("X1 the sandbox runs a whole turn", async () => {
    const engine = await sandboxEngine();
    const result = await new Agent({ name: "a", model: scriptedModel(["done"]) }).run("go", { engine });
    expect(result.output).toBe("done");
  });

  const forbidden = [
    "Date.now()",
    "new Date()",
    "Math.random()",
    "setTimeout(() => {}, 1)",
    "setImmediate(() => {})",
    "queueMicrotask(() => {})",
    "crypto.randomUUID()",
    "structuredClone({})",
    "AbortSignal.abort()",
    "performance.now()",
    "process.cwd()",
    "Buffer.from('')",
    "fetch('http://127.0.0.1')",
  ];
  test.each(forbidden)("X1 a loop that says %s fails in the sandbox", async (expression) => {
    const file = temporaryFile();
    writeFileSync(file, `export function attempt(): unknown { return ${expression}; }`);
    const { attempt } = await loadInSandbox<{ attempt: () => unknown }>(pathToFileURL(file));
    expect(attempt).toThrow();
  });

  test("X1 a loop that imports a package fails to load in the sandbox", async () => {
    const file = temporaryFile();
    writeFileSync(file, 'import { readFileSync } from "node:fs"; export const read = readFileSync;');
    await expect(loadInSandbox(pathToFileURL(file))).rejects.toThrow(/node:fs/);
  });
});
