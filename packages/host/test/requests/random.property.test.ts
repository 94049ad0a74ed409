import fc from "fast-check";
import { Agent, cont, defineRail, defineTool, type Message, preHook } from "trackside";
import { type ScriptedReply, scriptedModel } from "trackside/testing";
import { expect, test } from "vitest";
import { databaseFile } from "../engine/support/database.ts";
import { hostOf } from "../engine/support/hosts.ts";
import { rebuilt } from "./support/compare.ts";
import { isAlikeByStep, sentTo } from "./support/stage.ts";

/** What a rail does to a request: to one of its messages, in one of several ways. */
interface Meddling {
  readonly how: "nothing" | "same" | "insert" | "remove" | "edit" | "copy" | "turn round";
  readonly at: number;
  readonly word: string;
}

function meddle(messages: readonly Message[], { how, at: place, word }: Meddling): readonly Message[] {
  const at = place % messages.length;
  const own: Message = { id: `own ${word}`, role: "user", parts: [{ type: "text", text: word }] };
  switch (how) {
    case "insert":
      return messages.toSpliced(at, 0, own);
    case "remove":
      return messages.length === 1 ? messages : messages.toSpliced(at, 1);
    case "edit":
      return messages.map((message, i) => (i === at ? edited(message, word) : message));
    case "copy":
      return messages.toSpliced(at, 0, ...messages.slice(at, at + 2));
    case "turn round":
      return messages.toReversed();
    default:
      return [...messages];
  }
}

function edited(message: Message, word: string): Message {
  if (message.role === "user") return { ...message, parts: [{ type: "text", text: word }] };
  if (message.role === "assistant")
    return { ...message, parts: [...message.parts, { type: "text", text: word }] };
  const outputs = [
    { type: "text", value: "" },
    { type: "text", value: word },
    { type: "json", value: { word, more: [1, null] } },
    { type: "error", failure: { code: "tool_failed", message: word } },
  ] as const;
  return { ...message, output: outputs[word.length % 4] ?? outputs[0], told: word };
}

const word = fc.string({ minLength: 1, maxLength: 12, unit: "grapheme" });
const meddling: fc.Arbitrary<Meddling> = fc.record({
  how: fc.constantFrom("nothing", "same", "insert", "remove", "edit", "copy", "turn round"),
  at: fc.nat(20),
  word,
});

const again = Object.assign(new Error("busy"), { statusCode: 503, isRetryable: true });
const reply: fc.Arbitrary<ScriptedReply> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      text: word,
      calls: fc.array(
        fc.record({ tool: fc.constantFrom("look", "fail", "nobody"), args: fc.record({ what: word }) }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ error: again }) },
  {
    weight: 1,
    arbitrary: fc.record({
      reasoning: word,
      text: fc.constant(""),
      calls: fc.constant([{ tool: "look", rawArgs: "{" }]),
    }),
  },
);

const scene = fc.record({
  replies: fc.array(reply, { maxLength: 5 }),
  meddlings: fc.array(meddling, { minLength: 1, maxLength: 6 }),
  transient: fc.option(word, { nil: undefined }),
  isPlanned: fc.boolean(),
  isAdvised: fc.boolean(),
  isInjected: fc.boolean(),
  inputs: fc.array(word, { minLength: 1, maxLength: 2 }),
});

test("R4 random talks with random rails are rebuilt as they were sent, here and after a restart", async () => {
  const path = databaseFile();
  let talks = 0;
  await fc.assert(
    fc.asyncProperty(scene, async (given) => {
      let calls = 0;
      const tools = [
        defineTool({ name: "look", effect: "none", execute: (args) => ({ seen: JSON.stringify(args) }) }),
        defineTool({
          name: "fail",
          effect: "none",
          execute: () => Promise.reject(new Error("no luck")),
        }),
      ];
      const rail = defineRail({ name: "meddler", on: ["PRE_LLM_CALL"] }, (ctx) => {
        const how = given.meddlings[calls++ % given.meddlings.length];
        if (how !== undefined && how.how !== "nothing")
          ctx.inputs.messages = meddle(ctx.inputs.messages, how);
      });
      const { transient } = given;
      const memory = preHook({ name: "memory" }, (turn) => cont(transient ? turn.append(transient) : turn));
      const planner = ["1. Look\n2. Say"];
      const script = given.inputs.flatMap(() => [
        ...(given.isPlanned ? planner : []),
        ...given.replies,
        "the end",
      ]);
      const model = scriptedModel(script);
      const name = `clerk${talks++}`;
      const agent = new Agent({
        name,
        model,
        tools,
        rails: [rail],
        instructions: "Be brief.",
        hooks: transient === undefined ? {} : { pre: [memory] },
        planningEnabled: given.isPlanned,
        budgetAwareness: given.isAdvised ? "per-message" : null,
        contextWindowTokens: 100_000,
        injectedToolArgs: given.isInjected ? { why: "Why it is called." } : {},
        maxSteps: 20,
        auditTransient: true,
      });
      const trackside = hostOf(path, [agent]);
      const runs: string[] = [];
      let conversation: string | undefined;
      for (const input of given.inputs) {
        const { runId, result, conversationId } = await trackside.start(name, input, {
          ...(conversation === undefined ? {} : { conversation }),
        });
        conversation = conversationId;
        runs.push(runId);
        await result().catch(() => {}); // a talk may end badly: what was sent was sent
      }
      const found = (await Promise.all(runs.map((id) => trackside.runs.requests(id)))).flat();
      expect(found.filter(({ complete }) => !complete)).toEqual([]);
      expect(found.map(rebuilt)).toEqual(sentTo(model));
      for (const id of runs) await isAlikeByStep(trackside, id, await trackside.runs.requests(id));
      await trackside.close();
      const other = hostOf(path, [agent]);
      expect((await Promise.all(runs.map((id) => other.runs.requests(id)))).flat()).toEqual(found);
      await other.close();
    }),
    { numRuns: 25 },
  );
});
