import { writeSync } from "node:fs";
import { serve, text, tool } from "./wire.ts";

/** Fills its stderr with more than a pipe holds, and waits for somebody to read it, before each answer. */
const chatter = "debug: still fine\n".repeat(20_000);

serve({
  tools: [tool("echo")],
  calls: {
    echo: () => {
      for (let at = 0; at < chatter.length; ) {
        try {
          at += writeSync(2, chatter.slice(at));
        } catch {
          // full; whoever reads it is expected to
        }
      }
      return text("talkative");
    },
  },
});
