import {
  Agent,
  type AgentBinding,
  abort,
  ask,
  cont,
  defineRail,
  defineTool,
  defineWorkflow,
  postHook,
  preHook,
  retry,
  type Task,
  type ToolServers,
} from "trackside";
import { defineServerTool, systemClock } from "trackside/engine";
import { keyring, type Store, Trackside, type TracksideOptions } from "../../src/index.ts";
import { storedDefinitions } from "../../src/mcp/stored-definitions.ts";
import { World, type WorldInit } from "./world.ts";

/** The keys of the fixture: everything that is encrypted in it is test data. */
export const KEYS = keyring({ current: "fixture", keys: { fixture: Buffer.alloc(32, 9) } });
export const WEBHOOK_SECRET = "a secret of the fixture";
const NEW_DEFINITION = "n".repeat(64);
const OLD_DEFINITION = "o".repeat(64);
const DEFINITION_KEY = "default/shop/lookup";
/** Longer than a recording takes. The clock of a recording is in the past, so that nothing is left of it afterwards. */
const LONG_SECONDS = 3_000;

export interface HostInit extends WorldInit {
  readonly store: Store;
  /** How far behind the clock is, in ms. */
  readonly behind?: number;
  readonly claims?: boolean;
  /** Without the tool of the agent `parkable`, whose runs are then parked. */
  readonly without?: "stamp";
  /** Has only this agent, and none of the others. */
  readonly only?: string;
  /** How long waits take. */
  readonly seconds?: number;
  /** Another engine than the host's own. */
  readonly engine?: TracksideOptions["engine"];
  /** Where the endpoint `pager` is. */
  readonly pager?: string;
}

/** The host of the fixture, the same for every process that records it or goes on with it. */
export function hostOf(init: HostInit): { readonly trackside: Trackside; readonly world: World } {
  const world = new World(init);
  const parts = partsOf(world, init);
  const agents = parts.agents.filter(
    ({ definition }) => init.only === undefined || definition.name === init.only,
  );
  const { store, behind = 0, claims = true, pager = "http://127.0.0.1:9/" } = init;
  const trackside = new Trackside({
    ...parts,
    agents,
    workflows: init.only === undefined ? parts.workflows : [],
    store,
    claims,
    keyring: KEYS,
    clock: { ...systemClock, now: () => Date.now() - behind, roughly: () => Date.now() - behind },
    ...(world.isRecording ? { retry: { baseMs: LONG_SECONDS * 1000, maxMs: LONG_SECONDS * 1000 } } : {}),
    ...(init.engine === undefined ? {} : { engine: init.engine }),
    webhooks: [{ name: "pager", url: pager, secret: WEBHOOK_SECRET, events: ["approval.requested"] }],
    notice: () => {},
  });
  return { trackside, world };
}

interface Parts
  extends Required<Pick<TracksideOptions, "workflows" | "tasks" | "tools" | "models" | "toolServers">> {
  readonly agents: readonly AgentBinding[];
}

function partsOf(world: World, { store, without, seconds = LONG_SECONDS }: HostInit): Parts {
  const model = world.model();
  const pay = world.tool("pay", "once");
  const charge = world.tool("charge", "once");
  const save = world.tool("save", "idempotent");
  const look = world.tool("look", "none");
  const fetch = world.tool("fetch", "none", { result: "a line of a long page\n".repeat(2_000) });
  const bet = world.tool("bet", "once", { onUnknown: "fail" });
  const stamp = world.tool("stamp", "once");
  const question = world.tool("question", "idempotent", {
    during: async (name, { elicit }) => {
      const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
      return elicit({ message: `Which city for ${name}?`, schema });
    },
  });
  const flaky = world.tool("flaky", "idempotent", {
    during: async (name) => {
      if (world.fails(name)) throw new Error("not now");
      return `flaky ${name}`;
    },
  });
  const locate = defineTool({ name: "locate", executor: "client", input: { type: "object" } });
  const tools = [pay, save, look, fetch, bet, question];
  const waits = { hitlTimeoutSeconds: null };

  const clerk = new Agent({ name: "clerk", model, tools: [...tools, locate], ...waits });
  const gated = new Agent({
    name: "gated",
    model,
    tools: [charge, look, pay],
    hitlTools: ["charge"],
    ...waits,
  });
  const timed = new Agent({
    name: "timed",
    model,
    tools: [charge],
    hitlTools: ["charge"],
    hitlTimeoutSeconds: 60,
  });
  const lost = new Agent({ name: "lost", model, tools: [pay], ...waits });
  const parkable = new Agent({
    name: "parkable",
    model,
    tools: without === "stamp" ? [] : [stamp],
    hitlTools: without === "stamp" ? [] : ["stamp"],
    ...waits,
  });
  const railed = new Agent({
    name: "railed",
    model,
    tools: [pay, save, look],
    ...waits,
    rails: [
      defineRail({ name: "counter", on: ["POST_TOOL_CALL"] }, (ctx) => ctx.state.add("calls", 1)),
      defineRail({ name: "doorman", on: ["PRE_TOOL_CALL"] }, (ctx) => {
        if (ctx.event !== "PRE_TOOL_CALL") return undefined;
        const name = String(ctx.inputs.arguments["name"]);
        if (name.startsWith("forbidden")) return abort("it is forbidden");
        return name.startsWith("doubtful") ? ask("the doorman doubts it") : undefined;
      }),
      defineRail({ name: "brake", on: ["PRE_LLM_CALL"] }, async (ctx) => {
        if (ctx.event !== "PRE_LLM_CALL") return undefined;
        const said = JSON.stringify(ctx.inputs.messages);
        if (said.includes("look between-steps")) await world.hold("between-steps");
        if (!said.includes("look rail-retry") || !world.fails("rail-retry")) return undefined;
        return retry({ delay: seconds, maxRetries: 1, reason: "too fast" });
      }),
    ],
  });
  const spawner = new Agent({
    name: "spawner",
    model,
    tools: [charge, save, look],
    hitlTools: ["charge"],
    allowSelfSpawn: true,
    allowParallelSubagents: true,
    ...waits,
  });
  const specialist = new Agent({ name: "specialist", model, tools: [pay, save], ...waits });
  const triage = new Agent({ name: "triage", model, tools: [look], handoffs: [specialist], ...waits });
  const planner = new Agent({
    name: "planner",
    model,
    planningModel: world.model("plan"),
    planningEnabled: true,
    tools: [pay, save, look],
    ...waits,
  });
  const archivist = new Agent({
    name: "archivist",
    model,
    tools: [save, look],
    contextWindowTokens: 4_000,
    budgetAwareness: "limit:30",
    ...waits,
  });
  const receipt: Task = {
    name: "receipt",
    run: async (input) => {
      await world.hold(`task ${String(input)}`);
      world.record({ tool: "receipt", name: String(input), effect: "task" });
    },
  };
  const hooked = new Agent({
    name: "hooked",
    model,
    tools: [save],
    hooks: {
      pre: [preHook({ name: "memory", durable: true }, (turn) => cont(turn.append("what I remember")))],
      post: [
        postHook({ name: "later" }, (turn, { defer }) => {
          defer(receipt, turn.answer);
          return cont(turn);
        }),
      ],
    },
    ...waits,
  });
  const served = new Agent({
    name: "served",
    model,
    tools: [save],
    mcpServers: [{ name: "shop", url: "https://shop.example/mcp" }],
    ...waits,
  });

  const inner = defineWorkflow(
    {
      name: "inner",
      nodes: {
        save: { kind: "tool", tool: "save", arguments: { name: "{{ input.name }}", hold: "before" } },
        pay: { kind: "tool", tool: "pay", arguments: { name: "{{ input.name }}" } },
      },
      edges: [{ from: "save", to: "pay" }],
      result: "{{ nodes.pay }}",
    },
    { tools: [save, pay] },
  );
  const flow = defineWorkflow(
    {
      name: "flow",
      nodes: {
        each: {
          kind: "map",
          over: "{{ input.scripts }}",
          do: { kind: "agent", agent: clerk, prompt: "{{ item }}" },
        },
        pays: {
          kind: "map",
          over: "{{ input.pays }}",
          do: { kind: "tool", tool: "pay", arguments: { name: "{{ item }}" } },
        },
        ask: { kind: "approval", message: "Go on with {{ input.name }}?", deadlineSeconds: null },
        sent: { kind: "wait", for: { webhook: { deadlineSeconds: null } } },
        later: { kind: "wait", for: { seconds } },
        again: {
          kind: "tool",
          tool: flaky,
          arguments: { name: "{{ input.name }}-again" },
          retry: { attempts: 3, delayMs: seconds * 1000 },
        },
        inside: { kind: "workflow", workflow: inner, input: { name: "{{ input.name }}-inside" } },
        choose: { kind: "condition", if: { left: "{{ nodes.sent.n }}", op: ">", right: 1 } },
        look: { kind: "tool", tool: "look", arguments: { name: "{{ input.name }}" } },
      },
      edges: [
        { from: "sent", to: "choose" },
        { from: "choose", to: "look", when: "true" },
        ...(["each", "pays", "ask", "later", "again", "inside"] as const).map((from) => ({
          from,
          to: "look" as const,
        })),
      ],
      result: {
        each: "{{ nodes.each }}",
        pays: "{{ nodes.pays }}",
        by: "{{ nodes.ask.decided_by }}",
        sent: "{{ nodes.sent }}",
        again: "{{ nodes.again }}",
        inside: "{{ nodes.inside }}",
        look: "{{ nodes.look }}",
      },
    },
    { tools: [pay, save, look] },
  );

  return {
    // The types of agents differ in their tools; a host takes them all.
    agents: [
      ...[clerk, gated, timed, lost, parkable, railed, spawner],
      ...[specialist, triage, planner, archivist, hooked, served],
    ] as readonly AgentBinding[],
    workflows: [flow, inner] as Parts["workflows"],
    tasks: [receipt],
    tools: [pay, charge, save, look],
    models: { "demo:script": model },
    toolServers: shop(world, store),
  };
}

/** A server whose tool `lookup` was approved with another definition than it has now. */
function shop(world: World, store: Store): ToolServers {
  const definitions = storedDefinitions(store, systemClock.now);
  const made = (name: string) => {
    const { input, run } = world.tool(name, "once");
    return defineServerTool(
      { name: `mcp__shop__${name}`, input: input.jsonSchema, execute: (args, context) => run(args, context) },
      { name: "shop", trusted: false },
    );
  };
  return {
    async connect() {
      const approved = (await definitions.get(DEFINITION_KEY)) ?? OLD_DEFINITION;
      const isApproved = approved === NEW_DEFINITION;
      if (approved === OLD_DEFINITION) await definitions.set(DEFINITION_KEY, OLD_DEFINITION);
      const held = {
        name: "mcp__shop__lookup",
        server: "shop",
        definition: { description: "looks up more than before", input_schema: { type: "object" } },
        digest: NEW_DEFINITION,
        approved,
        approve: () => definitions.set(DEFINITION_KEY, NEW_DEFINITION),
        make: () => made("lookup"),
      };
      return {
        tools: [made("buy"), ...(isApproved ? [made("lookup")] : [])],
        held: isApproved ? [] : [held],
        withheld: [],
        release: () => {},
      };
    },
  };
}
