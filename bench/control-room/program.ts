/** The server of a measurement: says where it is and who may ask, and serves until it is killed. */
import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { sqlite, Trackside } from "@trackside/host";
import { createServer } from "@trackside/server";
import { Agent, defineTool } from "trackside";
import { z } from "zod";
import { v4Model } from "../contestants/v4-model.ts";
import { add, TOOL } from "../workload.ts";

const LONG_STEPS = 2000;
/** What a talking agent says: so many words, so far apart. Each is the time at which it was said. */
const WORDS = 40;
const PAUSE_MS = 250;
const LOGIN = { name: "ada", password: "wet moss under bridges" };

const [path = ""] = process.argv.slice(2);
const maySpeak = new Promise<void>((resolve) => process.once("message", () => resolve()));

const addTool = defineTool({
  ...TOOL,
  input: z.object({ n: z.number() }),
  effect: "none",
  execute: ({ n }) => add(n),
});

function talkingModel(): LanguageModelV4 {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const parts = async function* () {
    yield { type: "stream-start", warnings: [] };
    yield { type: "text-start", id: "0" };
    await maySpeak;
    for (let i = 0; i < WORDS; i++) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      yield { type: "text-delta", id: "0", delta: `${performance.timeOrigin + performance.now()} ` };
    }
    yield { type: "text-end", id: "0" };
    yield { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage };
  };
  // What a provider would send, without the fields that nobody reads here.
  const stream = () => ReadableStream.from(parts()) as unknown as ReadableStream<LanguageModelV4StreamPart>;
  return { ...v4Model({ steps: 0, deltas: 0 }), doStream: async () => ({ stream: stream() }) };
}

const agents = [
  new Agent({ name: "one-step", model: v4Model({ steps: 0, deltas: 1 }) }),
  new Agent({
    name: "long",
    model: v4Model({ steps: LONG_STEPS, deltas: 0 }),
    tools: [addTool],
    maxSteps: 2 * LONG_STEPS,
  }),
  new Agent({ name: "talking", model: talkingModel() }),
  new Agent({
    name: "silent",
    model: { ...v4Model({ steps: 0, deltas: 0 }), doStream: () => new Promise<never>(() => {}) },
  }),
];
const trackside = new Trackside({ store: sqlite(path), agents: agents as never }); // agents of different tools in one list
const server = createServer({ trackside, port: 0 });
const { url } = await server.listen();

const link = await trackside.access.setupLink();
if (link === undefined) throw new Error("the database is not a new one");
const admin = await trackside.access.finishSetup(link.secret, LOGIN);
if ("failed" in admin) throw new Error("the admin was not made");
const user = await trackside.access.users.find(LOGIN.name, { tenant: "default" });
if (user === undefined) throw new Error("the admin is not there");
const { secret: token } = await trackside.access.tokens.create(
  { name: "bench", role: "admin", user: user.id },
  { by: "bench" },
);
process.send?.({ url, token, login: LOGIN });
process.on("disconnect", () => process.exit());
