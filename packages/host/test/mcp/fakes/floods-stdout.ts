import { SILENCE, serve, text, tool, write } from "./wire.ts";

/** Writes as fast as it is read, one line that never ends. */
serve({
  tools: [tool("echo"), tool("flood")],
  calls: {
    echo: () => text("dry"),
    flood: () => {
      const chunk = "x".repeat(1 << 16);
      setImmediate(function more() {
        write(chunk);
        setImmediate(more);
      });
      return SILENCE;
    },
  },
});
