import { notify, SILENCE, serve, text, tool } from "./wire.ts";

/** Well-formed, and far too much of it: notices of every kind as fast as they are read. */
const flood = (say: (count: number) => void) => () => {
  let count = 0;
  setImmediate(function more() {
    for (let i = 0; i < 100; i++) say(++count);
    setImmediate(more);
  });
  return SILENCE;
};

serve({
  tools: [tool("echo"), tool("list-changes"), tool("logs"), tool("progress"), tool("strange-progress")],
  calls: {
    echo: () => text("quiet"),
    logs: flood((count) => notify("notifications/message", { level: "info", data: `line ${count}` })),
    "list-changes": flood(() => notify("notifications/tools/list_changed")),
    "strange-progress": flood((count) =>
      notify("notifications/progress", { progressToken: `nobody-${count}`, progress: count }),
    ),
    progress: (_, { progressToken }) =>
      flood((count) => notify("notifications/progress", { progressToken, progress: count }))(),
  },
});
