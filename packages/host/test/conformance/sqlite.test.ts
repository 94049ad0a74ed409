import { join } from "node:path";
import { describe, vi } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { sqlite } from "../../src/index.ts";
import { conforms } from "./conforms.ts";
import { LocalStage } from "./local-stage.ts";

vi.setConfig({ testTimeout: 300_000 });

describe("a host on SQLite", () => {
  conforms("sqlite", async () => {
    const path = join(temporaryFolder("host-conformance"), "trackside.db");
    return new LocalStage(() => sqlite(path, { sync: "normal" }));
  });
});
