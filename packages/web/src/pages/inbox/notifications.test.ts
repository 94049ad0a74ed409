import { expect, test } from "vitest";
import { newOnes } from "../../shell/notifications.ts";

const waiting = (...ids: string[]) => ids.map((id) => ({ id, tool: "deploy", agent: "keeper" }));

test("what waits when the page opens is no news; what comes later is, once", () => {
  expect(newOnes(undefined, waiting("a"))).toEqual([]);
  expect(newOnes(new Set(["a"]), waiting("a", "b")).map(({ id }) => id)).toEqual(["b"]);
  expect(newOnes(new Set(["a", "b"]), waiting("a", "b"))).toEqual([]);
});
