import { serve, stateFile, text, tool } from "./wire.ts";

/** There is always one more page of tools; with a state file named `same` it is always the same one. */
let page = 0;

serve({
  calls: { echo: () => text("found it") },
  methods: {
    "tools/list": () => {
      page++;
      return {
        tools: [tool(page === 1 ? "echo" : `tool-${page}`)],
        nextCursor: stateFile === "same" ? "again" : `page-${page + 1}`,
      };
    },
  },
});
