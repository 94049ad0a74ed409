import { closeSync, writeSync } from "node:fs";
import { SILENCE, serve, text, tool, write } from "./wire.ts";

/** Does to its own streams what a server should not, or may but seldom does. */
const answer = (id: unknown, words: string) => JSON.stringify({ jsonrpc: "2.0", id, result: text(words) });

serve({
  tools: ["close-input", "close-output", "crlf", "echo", "slices"].map((name) => tool(name)),
  calls: {
    echo: () => text("in one piece"),
    "close-output": () => {
      closeSync(1);
      setInterval(() => {}, 1_000); // it lives on
      return SILENCE;
    },
    "close-input": () => {
      process.stdin.destroy();
      closeSync(0);
      setInterval(() => {}, 1_000);
      return text("deaf from now on");
    },
    crlf: (_, { id }) => {
      write(`${answer(id, "from a machine with two kinds of line ends")}\r\n`);
      return SILENCE;
    },
    // Every byte by itself, so that characters of several bytes come in pieces.
    slices: async (_, { id }) => {
      for (const byte of Buffer.from(`${answer(id, "žluťoučký 🐎 \u2028")}\n`)) {
        writeSync(1, Buffer.from([byte]));
        await new Promise((resolve) => setImmediate(resolve));
      }
      return SILENCE;
    },
  },
});
