import { SILENCE, serve, stateFile, text, tool } from "./wire.ts";

/** Speaks one revision only, the one named in place of a state file; methods it does not know it does not answer. */
serve({
  tools: [tool("echo")],
  calls: { echo: () => text("as in the old days") },
  methods: {
    initialize: () => ({
      protocolVersion: stateFile,
      capabilities: { tools: {} },
      serverInfo: { name: "old", version: "0.1" },
    }),
    "server/discover": () => SILENCE,
  },
});
