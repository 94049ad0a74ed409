import { anchoredEstimate } from "../context/anchor.ts";
import { budgetOf, limitPercent, reserveOf } from "../context/budget.ts";
import type { ModelFacts } from "../context/model-table.ts";
import type { Message } from "../schema/message.ts";
import type { TurnState } from "../schema/turn-state.ts";
import type { CompactInput, Room } from "../turn/world.ts";
import type { BoundAgent } from "./bound-agent.ts";
import { afterLog, asideOf, type Requested, tailOf } from "./handlers/request.ts";
import type { RunContext } from "./run-context.ts";
import type { TokenCounter } from "./token-counter.ts";

type Anchor = TurnState["anchor"];

/** A request of this size by our own count, as a provider will count it: as it counted the last one (B6). */
export function estimated(size: number, anchor: Anchor): number {
  const added = anchor === null || anchor.moved ? null : size - anchor.estimated;
  return anchoredEstimate(anchor, { whole: size, added });
}

/** The request as it will be sent, by our own count: system prompt, tools, log, tail. Costs what is new since the last. */
export function requestSize(run: RunContext, input: Requested): number {
  const counter = counterOf(run, input.planner !== undefined);
  return besideLog(run, input, counter) + run.log.tokens(input.up_to, counter.size);
}

/** The same for messages that are sent in place of the log. */
export function sizeOfMessages(run: RunContext, messages: readonly Message[], isPlanning: boolean): number {
  const counter = counterOf(run, isPlanning);
  return fixedPart(run.agent, counter, isPlanning) + sum(messages, counter);
}

/** What is sent beside the log. */
export function besideLog(run: RunContext, input: Requested, counter: TokenCounter): number {
  let tokens = fixedPart(run.agent, counter, input.planner !== undefined);
  if (input.tail.length > 0 || input.plan !== null) tokens += sum(tailOf(run, input), counter);
  if (input.redo !== null || input.notes.length > 0) tokens += sum(afterLog(run, input), counter);
  if (input.planner) tokens += sum(asideOf(run, input), counter);
  return tokens;
}

export function counterOf(run: RunContext, isPlanning = false): TokenCounter {
  const { model, planning_model } = run.agent.definition;
  return run.parts.counters.of(isPlanning ? (planning_model ?? model) : model);
}

/** What is known of the model a request goes to. */
export function factsOf(run: RunContext, isPlanning = false): ModelFacts | undefined {
  const { definition } = run.agent;
  const { planning_model } = definition;
  return isPlanning && planning_model !== null
    ? run.parts.facts.of(planning_model)
    : run.parts.facts.ofAgent(definition);
}

/** What `limit:n` allows; undefined in every other mode (B3). */
export function limitOf(run: RunContext, isPlanning = false): number | undefined {
  const { definition } = run.agent;
  if (limitPercent(definition) === null) return undefined;
  const facts = factsOf(run, isPlanning);
  return facts === undefined ? undefined : budgetOf(definition, facts);
}

/** Before a turn: whether the log leaves too little room for it (H6). The message that opens it is not in the log yet. */
export function isCrowded(run: RunContext, input: CompactInput): boolean {
  run.enter(input.agent);
  const room = roomOf(run, input);
  return room !== undefined && room.estimate > room.limit;
}

/** Room, with the size by our own count that the estimate is made from. */
export interface Measured extends Room {
  readonly size: number;
}

/** How much room there is, and how much there should be; undefined where nothing is known of the window (H6). */
export function roomOf(run: RunContext, input: CompactInput): Measured | undefined {
  const { definition } = run.agent;
  const facts = factsOf(run);
  const { why, anchor } = input;
  let size = requestSize(run, input);
  if (why === "opening") size += counterOf(run).size(openingMessage(run));
  const estimate = estimated(size, anchor);
  if (why === "overflow") {
    // The estimate was wrong, so it is no guide to how much is enough.
    const most = facts === undefined ? estimate : Math.min(estimate, budgetOf(definition, facts));
    return { size, estimate, limit: Math.floor(most * AFTER_OVERFLOW) };
  }
  if (facts === undefined) return undefined;
  const budget = budgetOf(definition, facts);
  const reserve = why === "opening" ? reserveOf(definition, budget, run.agent.preHooks.length > 0) : 0;
  return { size, estimate, limit: budget - reserve };
}

/** The message that opens the turn, as START rails left it. */
export function openingMessage(run: RunContext): Message {
  return run.message(run.userMessage.id) ?? run.userMessage;
}

const AFTER_OVERFLOW = 0.7;

/** What the same agent's requests have in common, as it was last counted: an agent has one counter, as a rule. */
interface Fixed {
  readonly counter: TokenCounter;
  readonly exact: boolean;
  readonly tokens: number;
}

const executors = new WeakMap<BoundAgent, Fixed>();
const planners = new WeakMap<BoundAgent, Fixed>();

function fixedPart(agent: BoundAgent, counter: TokenCounter, isPlanning: boolean): number {
  const counted = isPlanning ? planners : executors;
  const known = counted.get(agent);
  if (known?.counter === counter && known.exact === counter.exact) return known.tokens;
  const system = isPlanning ? agent.plannerSystem : agent.system;
  const tools = agent.wireTools(counter.model, isPlanning) ?? [];
  const tokens = counter.request({
    system: system?.content ?? "",
    tools: tools.map(({ name, description = "", inputSchema }) => ({ name, description, inputSchema })),
  });
  counted.set(agent, { counter, exact: counter.exact, tokens });
  return tokens;
}

function sum(messages: readonly Message[], counter: TokenCounter): number {
  let tokens = 0;
  for (const message of messages) tokens += counter.message(message);
  return tokens;
}
