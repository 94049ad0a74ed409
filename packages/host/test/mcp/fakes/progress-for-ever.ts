import { notify, SILENCE, serve, text, tool } from "./wire.ts";

/** Always busy, never done. */
serve({
  tools: [tool("busy"), tool("echo")],
  calls: {
    echo: () => text("idle"),
    busy: (_, { progressToken }) => {
      let progress = 0;
      setInterval(() => notify("notifications/progress", { progressToken, progress: ++progress }), 20);
      return SILENCE;
    },
  },
});
