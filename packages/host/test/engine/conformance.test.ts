import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { engineConformance } from "trackside/testing";
import { describe, test } from "vitest";
import { DurableEngine } from "../../src/journal/durable-engine.ts";
import { sqlite } from "../../src/store/index.ts";

describe("the durable engine on SQLite", () => {
  for (const { title, check } of engineConformance) {
    test(title, async () => {
      const engines: DurableEngine[] = [];
      await check((options) => {
        const path = join(mkdtempSync(join(tmpdir(), "trackside-engine-")), "t.db");
        const engine = new DurableEngine({ ...options, store: sqlite(path, { sync: "normal" }) });
        engines.push(engine);
        return engine;
      });
      for (const engine of engines) await engine.close();
    });
  }
});
