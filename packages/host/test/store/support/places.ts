import { afterEach, vi } from "vitest";
import { temporaryFolder } from "../../../../../scripts/testing/temporary-folder.ts";
import type { Store } from "../../../src/store/index.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 }); // processes start and databases restart at their leisure

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Runs when the test is over, the latest first. */
export function afterwards(close: () => unknown): void {
  closing.push(close);
}

export const tempDir = () => temporaryFolder("store");

/** The store, closed when the test is over. */
export function closed<S extends Store>(store: S): S {
  afterwards(() => store.close());
  return store;
}
