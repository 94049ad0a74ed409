import { defineConfig } from "vitest/config";
import base from "./vitest.config.ts";

// `npm run prove`: what is exhaustive over real processes, databases and races. Takes long; run before a release.
const { projects: _, ...test } = base.test ?? {};

export default defineConfig({
  ...base,
  test: {
    ...test,
    name: "prove",
    include: ["packages/*/test/**/*.prove.ts"],
    // Files that are a sample in `npm test` and complete here look at this.
    env: { TRACKSIDE_PROVE: "1" },
    pool: "forks",
  },
});
