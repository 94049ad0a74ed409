import {
  abort,
  ask,
  type Message,
  type Rail,
  type RailContext,
  type RailReturn,
  skip,
  type ToolMessage,
} from "trackside";
import * as z from "zod";
import { aboutRail } from "../kit/about.ts";
import { later } from "../kit/later.ts";
import { makeRail, type RailSettings } from "../kit/make-rail.ts";
import { NO_LIMIT } from "../kit/operation.ts";
import { anyNumber, readOptions } from "../kit/options.ts";
import { matcher, toolPatterns } from "../kit/tool-names.ts";
import { isPassedOn, sourcesOf } from "./sources.ts";

export interface UntrustedDataOptions {
  /**
   * Names and patterns of tools whose results come from outside: web pages, mails, tickets, files of others. Tools of MCP
   * servers always are, unless their server is `trusted`.
   */
  readonly untrusted?: string | readonly string[];
  /** Takes every tool for untrusted, except those in `trusted`. */
  readonly all?: boolean;
  /** With `all`: tools whose results nobody else can write. */
  readonly trusted?: string | readonly string[];
  /** Names and patterns of pre-hooks whose content comes from outside, such as search in documents. */
  readonly hooks?: string | readonly string[];
  /** Names and patterns of the tools that do what must not be done on somebody else's word. */
  readonly sensitive: string | readonly string[];
  /** What happens to a sensitive call once untrusted data was read: a human is asked (default), it is refused, or the run ends. */
  readonly action?: "ask" | "refuse" | "abort";
}

/** For JSON Schema. */
const ALL = { all: { const: true } };

const options = later(() =>
  z
    .strictObject({
      untrusted: toolPatterns
        .optional()
        .describe(
          "Names and patterns of tools whose results come from outside: web pages, mails, files of others.",
        ),
      all: z.boolean().default(false).describe("Take every tool for untrusted, except the trusted ones."),
      trusted: toolPatterns.optional().describe("With all: tools whose results nobody else can write."),
      hooks: anyNumber(z.string().min(1, "the name of a hook"))
        .prefault([])
        .describe(
          "Names and patterns of pre-hooks whose content comes from outside, such as search in documents.",
        ),
      sensitive: toolPatterns.describe(
        "Names and patterns of the tools that do what must not be done on somebody else's word.",
      ),
      action: z
        .enum(["ask", "refuse", "abort"])
        .default("ask")
        .describe(
          "What happens to a sensitive call once untrusted data was read: a human is asked, it is refused, or the run ends.",
        ),
    })
    .superRefine(({ untrusted, all, trusted, hooks }, ctx) => {
      const wrong = (key: string, message: string) => ctx.addIssue({ code: "custom", path: [key], message });
      if (untrusted === undefined && !all && hooks.length === 0)
        wrong("untrusted", "the tools whose results come from outside, or `all: true`");
      if (untrusted !== undefined && all) wrong("untrusted", "nothing, since `all` names every tool");
      if (trusted !== undefined && !all) wrong("trusted", "nothing, unless `all` is true");
    })
    .meta({
      anyOf: [
        { required: ["untrusted"] },
        { required: ["all"], properties: ALL },
        { required: ["hooks"], properties: { hooks: { minItems: 1 } } },
      ],
      not: { required: ["untrusted", "all"], properties: ALL },
      dependentSchemas: { trusted: { required: ["all"], properties: ALL } },
    }),
);

const placed = { priority: 16, on: ["START", "PRE_LLM_CALL", "PRE_TOOL_CALL"] as const };

export const untrustedDataAbout = /* @__PURE__ */ aboutRail(
  { description: "Keeps text that others wrote from steering tools that must not be steered.", options },
  placed,
);

/**
 * Tools of MCP servers that are not marked as trusted: what they return is always a stranger's word. So is what a server
 * said that this agent does not have: another one had the turn, or its sub-agent.
 */
function served(servers: readonly { readonly name: string; readonly trusted?: boolean | undefined }[]) {
  const trusted = servers.filter((server) => server.trusted === true).map(({ name }) => `mcp__${name}__`);
  return (tool: string) => tool.startsWith("mcp__") && !trusted.some((prefix) => tool.startsWith(prefix));
}

/** How many sources are kept to be shown; more are counted. */
const SHOWN = 3;

/**
 * Keeps text that others wrote from steering what must not be steered. Once the model has been shown a result of an
 * untrusted tool, in this turn or an earlier one of the conversation, sensitive tools are asked for or refused; the reason
 * names the source. Calls the model made before it saw such data are not affected, even if they run beside it.
 *
 * @example
 * untrustedData({ untrusted: ["fetch_*", "read_mail"], sensitive: ["send_*", "pay"] });
 */
export function untrustedData(given: UntrustedDataOptions, settings: RailSettings = {}): Rail {
  const read = readOptions("untrusted-data", options(), given);
  const name = settings.name ?? "untrusted-data";
  const isSensitive = matcher(read.sensitive);
  const named = matcher((read.all ? read.trusted : read.untrusted) ?? []);
  const untrusted = { tool: (tool: string) => named(tool) !== read.all, hook: matcher(read.hooks) };
  const counter = `${name}/sources`;

  /** What the model is about to be shown decides what it may do next. The counter holds for the whole run tree. */
  async function look(
    ctx: RailContext<"START" | "PRE_LLM_CALL">,
    messages: readonly Message[],
  ): Promise<void> {
    const isServed = served(ctx.agent.mcp_servers);
    const tool = (one: string) => untrusted.tool(one) || isServed(one);
    // With `all` nobody had to name it: what it passes on decides.
    const result = (one: ToolMessage) => tool(one.tool) && !(read.all && isPassedOn(one));
    const { count, last } = sourcesOf(messages, { ...untrusted, tool, result }, SHOWN);
    const known = stateOf(ctx.state.get(name));
    if (count <= known.count) return;
    await ctx.reserve(counter, count - known.count, NO_LIMIT);
    ctx.state.set(name, { count, last });
  }

  async function guard(ctx: RailContext<"PRE_TOOL_CALL">): Promise<RailReturn> {
    const { toolName } = ctx.inputs;
    if (!isSensitive(toolName)) return undefined;
    const { granted: clean } = await ctx.reserve(counter, 0, 0);
    const { count, last } = stateOf(ctx.state.get(name));
    if (clean && count === 0) return undefined;
    const from = last.length > 0 ? last.join(", ") : "another part of the run";
    const more = count > last.length ? ` and ${count - last.length} more` : "";
    const reason = `${toolName} is sensitive and the model has read untrusted data (from ${from}${more})`;
    if (read.action === "ask") return ask(reason);
    return read.action === "refuse" ? skip(reason) : abort(reason);
  }

  const made = { name, ...placed, needsAll: true, asks: read.action === "ask" };
  return makeRail(made, settings, async (ctx) => {
    if (ctx.event === "PRE_TOOL_CALL") return guard(ctx);
    await look(ctx, ctx.inputs.messages);
    return undefined;
  });
}

const state = z.object({ count: z.number(), last: z.array(z.string()) }).catch({ count: 0, last: [] });

function stateOf(value: unknown): z.output<typeof state> {
  return state.parse(value);
}
