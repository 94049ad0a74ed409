import { readdirSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { Worker } from "@temporalio/worker";
import { DeterminismViolationError } from "@temporalio/workflow";
import { describe, expect, test } from "vitest";
import { bundleFile } from "./support/bundle-file.ts";
import { readHistory } from "./support/histories.ts";
import "./support/runtime.ts";

// Histories of real runs (support/record-histories.ts). The loop of today must do with them what it did then: else runs that
// are under way when it is deployed cannot go on.

const HISTORIES = new URL("./histories/", import.meta.url);
const files = readdirSync(HISTORIES).sort();
const code = readFileSync(await bundleFile(), "utf8");

function replay(file: string, changed = code): Promise<void> {
  const history = readHistory(readFileSync(new URL(file, HISTORIES), "utf8"));
  return Worker.runReplayHistory({ workflowBundle: { code: changed } }, history);
}

describe("recorded histories", () => {
  test("there are some of each kind, and they name no machine", () => {
    const kinds = ["approval", "cancel", "new-history-1", "new-history-2", "sub-agents", "tools-with-rails"];
    expect(files).toEqual(expect.arrayContaining(kinds.map((kind) => `${kind}.jsonl`)));
    for (const file of files) {
      const text = readFileSync(new URL(file, HISTORIES), "utf8");
      for (const [, identity] of text.matchAll(/"identity":"(.*?)"/g))
        expect(identity).toMatch(/^(somebody|history-service|)$/);
    }
  });

  test.each(files)("X9 %s is replayed as it was", async (file) => {
    await replay(file);
  });
});

/** Histories of the runs in packages/host/test/upgrade, by the commit that recorded them (upgrade/record.ts). */
const FIXTURES = new URL("./upgrade/fixtures/", import.meta.url);

describe.each(readdirSync(FIXTURES).sort())("the histories of %s", (file) => {
  const found: Record<string, string> = JSON.parse(
    gunzipSync(readFileSync(new URL(file, FIXTURES))).toString(),
  );
  const all = Object.entries(found).map(([workflowId, text]) => ({ workflowId, history: readHistory(text) }));

  test("X9 are replayed as they were", async () => {
    const replayed: string[] = [];
    for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle: { code } }, all)) {
      expect({ [workflowId]: error }).toEqual({ [workflowId]: undefined });
      replayed.push(workflowId);
    }
    expect(replayed.sort()).toEqual(Object.keys(found).sort());
  });

  test("they name no machine", () => {
    for (const text of Object.values(found))
      for (const [, identity] of text.matchAll(/"identity":"(.*?)"/g))
        expect(identity).toMatch(/^(somebody|history-service|)$/);
  });
});

describe("a change that runs under way cannot follow is caught", () => {
  test("X2 X9 one effect more at the beginning of a turn", async () => {
    const changed = code.replace(
      /async function runTurn\([\s\S]*?\) \{\n/,
      "$&await world.sleep('more', 1);\n",
    );
    expect(changed).not.toBe(code);
    await expect(replay("tools-with-rails.jsonl", changed)).rejects.toThrow(DeterminismViolationError);
  });
});
