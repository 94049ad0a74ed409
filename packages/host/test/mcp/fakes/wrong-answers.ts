import { type Handler, SILENCE, send, serve, text, tool } from "./wire.ts";

/** Answers every call, each in a way that is not allowed. */
const answer = (message: object): Handler => {
  return (_, { id }) => {
    send({ id, ...message });
    return SILENCE;
  };
};

const calls: Record<string, Handler> = {
  echo: () => text("as it should be"),
  "another-id": answer({ id: "somebody else", result: text("not yours") }),
  "no-result": answer({}),
  "null-result": answer({ result: null }),
  "text-result": answer({ result: "done" }),
  "list-result": answer({ result: [] }),
  "no-content": answer({ result: {} }),
  "content-is-text": answer({ result: { content: "done" } }),
  "content-of-numbers": answer({ result: { content: [1, 2] } }),
  "unknown-content": answer({ result: { content: [{ type: "hologram", data: "?" }] } }),
  "error-is-text": answer({ error: "no" }),
  "error-without-message": answer({ error: { code: 1 } }),
  "result-and-error": answer({ result: text("yes"), error: { code: 1, message: "no" } }),
  "protocol-error": answer({ error: { code: -32050, message: "the disk is full", data: { disk: "sda" } } }),
  "tool-error": answer({ result: { ...text("no such city"), isError: true } }),
  twice: (_, { id }) => {
    send({ id, result: text("first") });
    send({ id, result: text("second") });
    return SILENCE;
  },
  "ten-megabytes": () => text("0123456789".repeat(1_000_000)),
  "hundred-megabytes": () => text("0123456789".repeat(10_000_000)),
  "prototype-keys": answer({
    result: JSON.parse('{"content":[{"type":"text","text":"ok"}],"__proto__":{"polluted":true}}'),
  }),
};

serve({ tools: Object.keys(calls).map((name) => tool(name)), calls });
