import { serve, text, tool, write } from "./wire.ts";

/** Dies while it works on a call; when started again it is well. */
serve({
  tools: [tool("die"), tool("die-killed"), tool("half"), tool("echo")],
  calls: {
    echo: () => text("alive"),
    die: () => {
      process.stderr.write("fatal: out of cheese\n");
      process.exit(3);
    },
    "die-killed": () => process.kill(process.pid, "SIGKILL"),
    half: (_, { id }) => {
      write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[`);
      process.exit(0);
    },
  },
});
