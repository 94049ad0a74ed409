import { preview } from "../schema/preview.ts";
import type { OfferedTool } from "./spawn-tools.ts";

const PREFIX = "handoff_to_";
const MAX_NAME = 64;
/** How a name ends that is not simply the agent's: with digits that tell it from others. */
const MARKED = /_x[0-9a-z]{13}$/;
const MAX_HANDOFFS = 5;

/** Whether a tool of this name hands over to another agent. */
export function isHandoffTool(name: string): boolean {
  return name.startsWith(PREFIX);
}

/**
 * The name of the tool that hands over to an agent. An agent whose own name is a legal part of it keeps it; any other is
 * written with the characters allowed and a digest of the whole name, so that "Ä" and "Ö" stay two tools.
 */
export function handoffToolName(agent: string): string {
  const plain = `${PREFIX}${agent}`;
  if (/^[A-Za-z0-9_-]+$/.test(agent) && plain.length <= MAX_NAME && !MARKED.test(plain)) return plain;
  const mark = `_x${digest(agent)}`;
  const room = MAX_NAME - PREFIX.length - mark.length;
  return `${PREFIX}${lettersOf(agent).slice(0, room)}${mark}`;
}

function lettersOf(agent: string): string {
  const base = agent.normalize("NFKD").replaceAll(/\p{M}/gu, "");
  return base.match(/[A-Za-z0-9-]+/g)?.join("_") ?? "agent";
}

/** An agent that a turn may be handed to. */
export interface HandoffTarget {
  readonly name: string;
  readonly description: string;
}

/** A handoff tool as the model sees it, and where it leads. */
export interface HandoffTool extends OfferedTool {
  readonly agent: string;
}

/** The handoff tools of an agent, in the order of its `handoffs` (S7). */
export function handoffTools(targets: readonly HandoffTarget[]): readonly HandoffTool[] {
  const taken = new Set<string>();
  return targets.map(({ name: agent, description }) => {
    const name = untaken(handoffToolName(agent), taken);
    taken.add(name);
    return {
      agent,
      name,
      description:
        `Hands the conversation over to the agent ${preview(agent)}, which sees it all and goes on in your place. ` +
        `You get no result and do not continue.${description === "" ? "" : ` It is for: ${description}`}`,
      input_schema: INPUT,
    };
  });
}

/** Two names may be made to share a digest; then the later one of the list gets a number. */
function untaken(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let n = 2; ; n++) {
    const numbered = `${name.slice(0, MAX_NAME - 5)}_${n}`;
    if (!taken.has(numbered)) return numbered;
  }
}

const INPUT = {
  type: "object",
  properties: {
    reason: { type: "string", minLength: 1, description: "Why this agent should take over." },
    input: {
      type: "string",
      description: "What it should do, if the conversation does not say so already.",
    },
  },
  required: ["reason"],
  additionalProperties: false,
} as const;

/** One handoff of a turn, by the agents' names. */
export interface Handoff {
  readonly from: string;
  readonly to: string;
}

/** Whether a turn that made these handoffs may make one more: at most 5, and never the same twice (S7). */
export function nextHandoff(
  made: readonly Handoff[],
  from: string,
  to: string,
): { readonly ok: true } | { readonly ok: false; readonly problem: string } {
  const refused = (why: string) => ({ ok: false, problem: `${why}; answer it yourself` }) as const;
  if (from === to) return refused(`the agent ${preview(to)} already has the turn`);
  if (made.length >= MAX_HANDOFFS)
    return refused(`the turn was handed over ${made.length} times, and at most ${MAX_HANDOFFS} are allowed`);
  if (made.some((one) => one.from === from && one.to === to))
    return refused(`${preview(from)} has handed this turn to ${preview(to)} before`);
  return { ok: true };
}

/** 64 bits of a text, as 13 characters: FNV-1a. Names are chosen by people, not by attackers. */
function digest(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (let i = 0; i < text.length; i++)
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(i))) * 0x100000001b3n);
  return hash.toString(36).padStart(13, "0");
}
