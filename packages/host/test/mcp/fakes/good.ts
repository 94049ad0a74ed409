import { appendFileSync } from "node:fs";
import { notify, SILENCE, send, serve, stateFile, text, tool } from "./wire.ts";

/** An honest server: what stands beside the others and must not notice them. */
const numbers = { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } };
const words = { type: "object", properties: { message: { type: "string" } }, required: ["message"] };

/** Calls that wait to be cancelled. */
const open = new Set<unknown>();

serve({
  tools: [tool("add", numbers), tool("echo", words), tool("steps"), tool("until-cancelled"), tool("whoami")],
  calls: {
    add: ({ a, b }) => text(String(Number(a) + Number(b))),
    echo: ({ message }) => text(String(message)),
    whoami: () => text(String(process.pid)),
    // Notices and result leave in one write: whoever reads them must not let the result overtake.
    steps: (_, { progressToken }) => {
      const steps = [0, 0.25, 1 / 3, 0.5, 1];
      for (const progress of steps) notify("notifications/progress", { progressToken, progress, total: 1 });
      return text(`${steps.length} steps`);
    },
    "until-cancelled": (_, { id, progressToken }) => {
      open.add(id);
      notify("notifications/progress", { progressToken, progress: 0.5, message: "at work" });
      return SILENCE;
    },
  },
  methods: {
    "notifications/cancelled": ({ requestId }) => {
      if (stateFile !== "") appendFileSync(stateFile, `${open.has(requestId) ? "cancelled" : "stranger"}\n`);
      // A server should not answer any more; one that was about to may.
      if (open.delete(requestId)) send({ id: requestId, result: text("too late") });
    },
  },
});
