import { readFileSync } from "node:fs";
import { type FakeTool, notify, serve, stateFile, text, tool } from "./wire.ts";

/** Its tools are what the state file says at the moment; `announce` tells the client to look again. */
const listed = (): FakeTool[] => JSON.parse(readFileSync(stateFile, "utf8"));

serve({
  calls: {
    announce: () => {
      notify("notifications/tools/list_changed");
      return text("announced");
    },
    die: () => process.exit(1),
    lookup: () => text("found"),
    extra: () => text("more"),
  },
  methods: {
    "tools/list": () => ({ tools: [tool("announce"), tool("die"), ...listed()] }),
  },
});
