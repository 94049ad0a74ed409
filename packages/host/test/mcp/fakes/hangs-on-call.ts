import { appendFileSync } from "node:fs";
import { SILENCE, serve, stateFile, text, tool } from "./wire.ts";

/** Takes a call and never answers; everything else works. Writes down who told it to stop. */
serve({
  tools: [tool("echo"), tool("hang")],
  calls: { echo: () => text("still here"), hang: () => SILENCE },
  methods: {
    "notifications/cancelled": () => appendFileSync(stateFile, "cancelled\n"),
  },
});
