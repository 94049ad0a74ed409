import { behavioursFor, type EngineName } from "trackside/testing";
import { test } from "vitest";
import { hostSuite } from "./index.ts";
import type { HostStage } from "./stage.ts";

/** The tests of an engine: each behaviour gets a stage of its own. */
export function conforms(
  engine: EngineName,
  make: () => Promise<HostStage & { close(): Promise<void> }>,
): void {
  for (const { title, check } of behavioursFor(hostSuite, engine))
    test(title, async () => {
      const stage = await make();
      try {
        await check(stage);
      } finally {
        await stage.close();
      }
    });
}
