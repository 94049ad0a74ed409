import { appendFileSync, existsSync } from "node:fs";
import { notify, SILENCE, serve, stateFile, text, tool } from "./wire.ts";

/** Lists its tools the first time it is asked, in all the lives of it that share a state file, and never again. */
serve({
  calls: {
    announce: () => {
      notify("notifications/tools/list_changed");
      return text("announced");
    },
    die: () => process.exit(1),
  },
  methods: {
    "tools/list": () => {
      if (existsSync(stateFile)) return SILENCE;
      appendFileSync(stateFile, "listed\n");
      return { tools: [tool("announce"), tool("die")] };
    },
  },
});
