import * as fc from "fast-check";
import {
  Agent,
  Conversation,
  cont,
  type DurableEventOf,
  defineRail,
  defineTool,
  type Engine,
  postHook,
  preHook,
  regenerate,
} from "trackside";
import { type ScriptedRequest, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { isSummary, words } from "../budget/talk.ts";
import { ENGINES } from "../guards/stage.ts";
import { bruteForce, type Got } from "./brute.ts";

/** One step: how much each of its calls returns, and what happens around it. */
interface Step {
  readonly results: readonly number[];
  readonly happens: "nothing" | "note" | "failure";
}

interface Turn {
  readonly steps: readonly Step[];
  readonly news: string;
  readonly isDurable: boolean;
  readonly tools: number;
  readonly instructions: string;
  readonly model: "one" | "two";
  readonly isRegenerated: boolean;
  /** What a rail does to requests. */
  readonly rail: "nothing" | "same" | "stamps" | "cuts" | "now and then";
}

interface Script {
  readonly turns: readonly Turn[];
  readonly window: number;
  readonly planning: boolean;
  readonly budget: "limit:80" | "per-message" | null;
  /** What the provider counts for each request; 0 when it does not say. */
  readonly counts: readonly number[];
}

const mostly = <T>(usual: T, ...others: T[]) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );

const scripts: fc.Arbitrary<Script> = fc.record({
  turns: fc.array(
    fc.record({
      steps: fc.array(
        fc.record({
          results: fc.array(fc.nat(300), { minLength: 1, maxLength: 3 }),
          happens: mostly<Step["happens"]>("nothing", "note", "failure"),
        }),
        { maxLength: 4 },
      ),
      news: fc.constantFrom("", "It rains.", "It snows."),
      isDurable: mostly(false, true),
      tools: mostly(2, 1, 3),
      instructions: mostly("Be kind.", "", "Be brief."),
      model: mostly<"one" | "two">("one", "two"),
      isRegenerated: mostly(false, true),
      rail: mostly<Turn["rail"]>("nothing", "same", "stamps", "cuts", "now and then"),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  window: fc.integer({ min: 700, max: 6_000 }),
  planning: mostly(false, true),
  budget: fc.constantFrom("limit:80", "per-message", null),
  counts: fc.array(fc.integer({ min: 0, max: 5_000 }), { minLength: 1, maxLength: 9 }),
});

const failed = new WeakSet<ScriptedRequest>();

interface Talk {
  /** Of each lane, what was sent, and the events of those that were answered. */
  readonly lanes: Record<"main" | "planner", { readonly got: readonly Got[]; readonly events: Usage[] }>;
}

type Usage = DurableEventOf<"usage">;

async function talk(script: Script, engine: Engine): Promise<Talk> {
  const got: Record<"main" | "planner", Got[]> = { main: [], planner: [] };
  const events: Record<"main" | "planner", Usage[]> = { main: [], planner: [] };
  let turn = script.turns[0] as Turn; // there is one at least
  let step = 0;
  let requests = 0;
  let isFailed = false;
  let inject: (note: string) => unknown = () => {};
  let isDraft = false;

  const get = defineTool({
    name: "get",
    input: z.object({ result: z.number(), note: z.boolean() }),
    execute: ({ result, note }) => {
      if (note) inject(`Note ${step}.`);
      return words(result, "page");
    },
  });
  const more = ["one", "two"].map((name) => defineTool({ name, execute: () => "" }));
  const answer = (name: string) => (request: ScriptedRequest) => {
    if (isSummary(request)) return "In short.";
    const first = request.prompt[0];
    const isPlanner = first?.role === "system" && first.content.includes("plan");
    const lane = isPlanner ? got.planner : got.main;
    const reported = script.counts[requests++ % script.counts.length] ?? 0;
    const now = turn.steps[step];
    if (!isPlanner && now?.happens === "failure" && !isFailed) {
      isFailed = true;
      failed.add(request);
      lane.push({ request, model: name, reported: 0 });
      return { error: Object.assign(new Error("busy"), { statusCode: 500, isRetryable: true }) };
    }
    lane.push({ request, model: name, reported });
    const usage = { input: reported, output: 5 };
    if (isPlanner) return { text: "1. Think", usage };
    isFailed = false;
    if (now === undefined) return { text: "Done.", usage };
    step += 1;
    const args = now.results.map((result, i) => ({ result, note: now.happens === "note" && i === 0 }));
    return { calls: args.map((one) => ({ tool: "get", args: one })), usage };
  };
  const models = {
    one: scriptedModel([answer("scripted:one")], { loop: true, modelId: "one" }),
    two: scriptedModel([answer("scripted:two")], { loop: true, modelId: "two" }),
  };
  const meddle = defineRail({ name: "meddle", on: ["PRE_LLM_CALL"] }, (ctx) => {
    const { messages } = ctx.inputs;
    const said = (text: string) => ({
      id: "x",
      role: "user" as const,
      parts: [{ type: "text" as const, text }],
    });
    const { rail } = turn;
    if (rail === "same")
      ctx.inputs.messages = JSON.parse(JSON.stringify(messages).replaceAll("page", "leaf"));
    if (rail === "stamps") ctx.inputs.messages = [said(`Request ${requests}.`), ...messages];
    if (rail === "cuts") ctx.inputs.messages = messages.slice(-1).filter(({ role }) => role === "user");
    if (rail === "now and then" && requests % 2 === 1) ctx.inputs.messages = [...messages, said("Psst.")];
  });

  const conversation = new Conversation();
  for (turn of script.turns) {
    step = 0;
    isDraft = turn.isRegenerated;
    const news = preHook({ name: "news", durable: turn.isDurable }, (one) =>
      cont(turn.news === "" ? one : one.append(turn.news)),
    );
    const again = postHook({ name: "again" }, (one) => {
      if (!isDraft) return cont(one);
      isDraft = false;
      return regenerate("Once more.");
    });
    const agent = new Agent({
      name: "a",
      model: models[turn.model],
      instructions: turn.instructions,
      tools: [get, ...more].slice(0, turn.tools),
      rails: turn.rail === "nothing" ? [] : [meddle],
      hooks: { pre: [news], post: [again] },
      maxRegenerations: 1,
      planningEnabled: script.planning,
      contextWindowTokens: script.window,
      injectionReserveTokens: 50,
      budgetAwareness: script.budget,
    });
    const run = agent.stream(words(20, "ask"), { engine, conversation });
    inject = (note) => run.inject(note);
    for await (const event of run)
      if (event.type === "usage" && event.prefix)
        events[event.path.length === 0 ? "main" : "planner"].push(event);
    const result = await run.result.catch((error: { result: unknown }) => error.result);
    expect(result).toBeDefined();
  }
  return {
    lanes: {
      main: { got: got.main, events: events.main },
      planner: { got: got.planner, events: events.planner },
    },
  };
}

describe.each(ENGINES)("over random conversations on the %s engine", (_name, makeEngine) => {
  test("H5 B6 what is reported as the prefix of a request is what the requests have in common, byte for byte", async () => {
    const engine = makeEngine({ retry: { retries: 2, baseMs: 0, maxMs: 0 } });
    await fc.assert(
      fc.asyncProperty(scripts, async (script) => {
        const { lanes } = await talk(script, engine);
        for (const { got, events } of Object.values(lanes)) {
          const answered = got.flatMap((one, i) => (isAnswered(one) ? [i] : []));
          expect(events).toHaveLength(answered.length);
          for (const [n, i] of answered.entries()) {
            const [last, next] = [got[i - 1], got[i]];
            const prefix = events[n]?.prefix;
            if (last === undefined || next === undefined) {
              expect(prefix).toEqual({ tokens: 0, broken_by: null });
              continue;
            }
            const { tokens, isWhole } = bruteForce(last, next);
            expect(prefix?.tokens).toBe(tokens);
            expect([prefix?.broken_by, isWhole]).toEqual([isWhole ? null : expect.any(String), isWhole]);
            expect(prefix?.broken_by ?? "").not.toContain("history changed");
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});

/** Failed requests are sent, and later ones are compared with them. */
function isAnswered({ request }: Got): boolean {
  return !failed.has(request);
}
