import { test } from "vitest";
import { staysSmall } from "./support/stays-small.ts";
import { placeSuite } from "./support/suite.ts";

await placeSuite("a run of 500 steps", {}, (here) => {
  test("X9 500 steps with rails on every point stay far from every limit of the server", async () => {
    await staysSmall(here.place, 500);
  });
});
