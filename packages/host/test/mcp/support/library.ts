// A server with hints, resources and prompts, for the tests of the hub. What it is given as JSON replaces what it has.
import { notify, SILENCE, serve, text, tool } from "../fakes/wire.ts";

interface Shelf {
  readonly tools?: readonly { readonly name: string; readonly [more: string]: unknown }[];
  readonly resources?: boolean;
}

const { tools, resources = true }: Shelf = JSON.parse(process.argv[3] ?? "{}");
const own = [
  { ...tool("look"), annotations: { readOnlyHint: true } },
  { ...tool("put"), annotations: { idempotentHint: true, readOnlyHint: false } },
  tool("sell"),
  {
    ...tool("count"),
    outputSchema: { type: "object", properties: { books: { type: "integer" } }, required: ["books"] },
  },
  tool("miscount"),
  { ...tool("env"), description: "What it was given" },
  tool("whoami"),
  tool("never"),
];

serve({
  tools: tools ?? own,
  capabilities: { tools: {}, ...(resources ? { resources: {}, prompts: {} } : {}) },
  calls: {
    look: () => text("a shelf"),
    put: () => text("put"),
    count: () => ({ content: [], structuredContent: { books: 3 } }),
    miscount: () => ({ content: [text("").content, text("two").content].flat() }),
    env: () => ({ content: [], structuredContent: { ...process.env } }),
    whoami: () => text(String(process.pid)),
    never: (_, { progressToken }) => {
      notify("notifications/progress", { progressToken, progress: 0 });
      return SILENCE;
    },
  },
  methods: {
    "resources/list": ({ cursor }) =>
      cursor === undefined
        ? { resources: [{ uri: "book://one", name: "one", mimeType: "text/plain" }], nextCursor: "2" }
        : { resources: [{ uri: "book://cover", name: "cover", mimeType: "image/png" }] },
    "resources/read": ({ uri }) => ({
      contents: [
        uri === "book://cover"
          ? { uri, mimeType: "image/png", blob: Buffer.from("png").toString("base64") }
          : { uri, mimeType: "text/plain", text: "Once upon a time" },
      ],
    }),
    "prompts/list": () => ({ prompts: [{ name: "review", arguments: [{ name: "book", required: true }] }] }),
    "prompts/get": ({ arguments: args }) => ({
      messages: [{ role: "user", content: { type: "text", text: `Review ${JSON.stringify(args)}` } }],
    }),
  },
});
