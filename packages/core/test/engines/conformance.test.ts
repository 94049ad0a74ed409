import { localEngine } from "trackside";
import { behavioursFor, engineSuite, hostileEngine, sandboxEngine } from "trackside/testing";
import { describe, expect, test, vi } from "vitest";

vi.setConfig({ testTimeout: 120_000 }); // many runs each, in a world that restarts after every result

describe("the local engine", () => {
  for (const { title, check } of behavioursFor(engineSuite, "local")) test(title, () => check(localEngine));
});

describe("the hostile world", () => {
  for (const seed of [1, 2]) {
    for (const { title, check } of behavioursFor(engineSuite, "hostile")) {
      test(`${title} (seed ${seed})`, async () => {
        const replays: number[] = [];
        await check((options) =>
          hostileEngine({ ...options, seed, onReplayed: ({ deliveries }) => replays.push(deliveries) }),
        );
        // A restart that replays nothing proves nothing.
        expect(replays.some((deliveries) => deliveries > 0)).toBe(true);
      });
    }
  }
});

describe("the sandbox", () => {
  for (const { title, check } of behavioursFor(engineSuite, "sandbox"))
    test(title, () => check(sandboxEngine));
});
