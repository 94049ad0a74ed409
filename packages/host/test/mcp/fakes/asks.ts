import { ask, notify, type Params, SILENCE, serve, text, tool } from "./wire.ts";

/** Asks the person behind the run in the middle of a call, and reports what it heard. */
const question = (requestedSchema: unknown, more: Params = {}): Params => ({
  message: "Which city?",
  requestedSchema,
  ...more,
});

const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const heard = async (method: string, params: Params) => text(JSON.stringify(await ask(method, params)));

serve({
  capabilities: { tools: {} },
  tools: [
    "ask",
    "ask-around",
    "ask-badly",
    "ask-by-url",
    "ask-for-ever",
    "ask-twice-at-once",
    "roots",
    "sample",
    "strange-request",
  ].map((name) => tool(name)),
  calls: {
    ask: () => heard("elicitation/create", question(city)),
    "ask-badly": () =>
      heard("elicitation/create", question({ type: "array", items: { $ref: "http://a.example/" } })),
    "ask-by-url": () =>
      heard("elicitation/create", {
        mode: "url",
        message: "Sign in",
        url: "https://a.example/sign-in",
        elicitationId: "e1",
      }),
    "ask-around": async (_, { progressToken }) => {
      notify("notifications/progress", { progressToken, progress: 1 });
      const answer = await ask("elicitation/create", question(city));
      notify("notifications/progress", { progressToken, progress: 2 });
      return text(JSON.stringify(answer));
    },
    "ask-twice-at-once": async () =>
      text(JSON.stringify(await Promise.all([1, 2].map(() => ask("elicitation/create", question(city)))))),
    "ask-for-ever": async () => {
      for (;;) await ask("elicitation/create", question(city));
    },
    sample: () => heard("sampling/createMessage", { messages: [], maxTokens: 10 }),
    roots: () => heard("roots/list", {}),
    "strange-request": () => heard("home/address", {}),
  },
  methods: {
    // A question that belongs to no call: there is nobody it could be put to.
    "notifications/initialized": () => {
      void ask("elicitation/create", question(city));
      return SILENCE;
    },
  },
});
