import { serve, text, tool } from "./wire.ts";

/** Stops reading and answering altogether once told to, as a process that is stuck in a loop. */
serve({
  tools: [tool("echo"), tool("stick")],
  calls: {
    echo: () => text("well"),
    stick: () => {
      for (;;); // neither a signal handler nor a timer runs any more
    },
  },
});
