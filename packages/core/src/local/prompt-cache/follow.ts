import type { Prefix } from "../../schema/durable-events.ts";
import type { Log } from "../conversation.ts";
import type { Lane } from "../handlers/model-message.ts";
import { brokenBy, compareHeads } from "./broken-by.ts";
import { commonLength, type Sent } from "./sent.ts";
import { sizeBefore, sizerOf } from "./sizes.ts";

/** A request is about to be sent: how it goes on from the one before it in its lane. */
export function follow({ sent }: Log, lane: Lane, next: Sent): Following {
  const last = sent[lane];
  sent[lane] = next;
  return new Following(last, next);
}

/** A request and the one before: how much of the earlier one the later one begins with. */
export class Following {
  readonly last: Sent | undefined;
  readonly next: Sent;
  /** Messages they begin with alike; the system prompt is none. */
  readonly common: number = 0;
  readonly brokenBy: string | null = null;
  /** With other tools or another system prompt: how many tools they begin with alike. */
  readonly #tools: number | undefined;

  constructor(last: Sent | undefined, next: Sent) {
    this.last = last;
    this.next = next;
    if (last === undefined) return;
    const heads = compareHeads(last, next);
    if (!heads.alike) {
      this.brokenBy = heads.what;
      this.#tools = heads.tools;
      return;
    }
    this.common = goesOn(last, next) ? last.pieces.length : commonLength(last.stretches, next.stretches);
    if (this.common < last.length) this.brokenBy = brokenBy(last, next, this.common);
  }

  /** How many of the prompt's messages they begin with alike, the system prompt included. */
  get shared(): number {
    const { last, next, common } = this;
    if (last === undefined || this.#tools !== undefined) return 0;
    return next.pieces.system === null ? common : common + 1;
  }

  /** The answer is there, and what the provider counted. */
  prefix(reported: number): Prefix {
    this.next.reported = reported;
    const tokens = this.#tokens();
    return { tokens: reported > 0 ? Math.min(tokens, reported) : tokens, broken_by: this.brokenBy };
  }

  /** Of what the provider counted, less the smaller part that is gone; or else by estimate. */
  #tokens(): number {
    const { last, common } = this;
    if (last === undefined) return 0;
    const { reported, length } = last;
    if (this.brokenBy === null && reported > 0) return reported;
    if (this.#tools === undefined && reported > 0 && common * 2 >= length)
      return Math.max(0, reported - last.size(common, length));
    const estimate = this.#estimated(last);
    return reported > 0 ? Math.min(reported, estimate) : estimate;
  }

  #estimated(last: Sent): number {
    if (this.#tools === undefined) return last.before + last.size(0, this.common);
    const { tools, model } = last.heading;
    return sizeBefore(tools.slice(0, this.#tools), undefined, sizerOf(model));
  }
}

/** The log and nothing else was sent, and it has only grown since: the usual case, at the cost of a look. */
function goesOn({ pieces: a, changed }: Sent, { pieces: b, changed: changedToo }: Sent): boolean {
  return a.log === b.log && changed === undefined && changedToo === undefined && isLogOnly(a) && isLogOnly(b);
}

function isLogOnly({ inserted, added, aside }: Sent["pieces"]): boolean {
  return inserted.length === 0 && added.length === 0 && aside.length === 0;
}
