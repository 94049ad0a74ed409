import type { Message, UserMessage, UserPart } from "../schema/message.ts";
import type { Scope } from "../schema/run.ts";

/** Content a hook adds: text, or a part. */
export type Content = string | UserPart;

interface TurnData {
  readonly context: readonly Message[];
  readonly userMessage: UserMessage;
  readonly turnRef: string;
  readonly scope: Scope;
  readonly answer: string | null;
  readonly added: readonly UserPart[];
}

/**
 * A turn on its way through the pipeline. It is a value: `append` and `withUserMessage` give another one, which a hook
 * hands on with `cont(turn)`.
 */
export class Turn {
  /** The conversation so far, read-only. */
  readonly context: readonly Message[];
  /** The message that opened this turn. */
  readonly userMessage: UserMessage;
  readonly turnRef: string;
  readonly scope: Scope;
  /** For post-hooks: the answer. */
  readonly answer: string | null;
  /** What this hook has added so far. */
  readonly added: readonly UserPart[];

  constructor(data: TurnData) {
    this.context = data.context;
    this.userMessage = data.userMessage;
    this.turnRef = data.turnRef;
    this.scope = data.scope;
    this.answer = data.answer;
    this.added = data.added;
    Object.freeze(this);
  }

  /** The user's message as text. */
  get text(): string {
    return this.userMessage.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  }

  /** The turn with content beside the user's message: for this turn only, or, from a durable hook, in the log. */
  append(...content: readonly Content[]): Turn {
    return new Turn({ ...this.#data(), added: [...this.added, ...toParts(content)] });
  }

  /** The turn with another user's message. The log and later turns show it; the original stays in the run's record. */
  withUserMessage(...content: readonly Content[]): Turn {
    const userMessage = { ...this.userMessage, parts: toParts(content) };
    return new Turn({ ...this.#data(), userMessage });
  }

  /** The turn as the next hook gets it. */
  handOn(): Turn {
    return this.added.length === 0 ? this : new Turn({ ...this.#data(), added: [] });
  }

  #data(): TurnData {
    const { context, userMessage, turnRef, scope, answer, added } = this;
    return { context, userMessage, turnRef, scope, answer, added };
  }
}

/** Content as parts of a message. Blank text is left out, because providers refuse it. */
export function toParts(content: readonly Content[]): readonly UserPart[] {
  const parts = content.map((one): UserPart => (typeof one === "string" ? { type: "text", text: one } : one));
  return parts.filter((part) => part?.type !== "text" || !isBlank(part.text));
}

export const isBlank = (text: unknown) => typeof text === "string" && text.trim() === "";

/** What a hook of the pipeline answers with. */
export class PipelineAnswer {
  readonly kind: "cont" | "halt" | "regenerate";
  readonly turn: Turn | null;
  readonly reason: string;

  constructor(kind: "cont" | "halt" | "regenerate", turn: Turn | null, reason: string) {
    this.kind = kind;
    this.turn = turn;
    this.reason = reason;
    Object.freeze(this);
  }
}

/** Go on with this turn. */
export function cont(turn: Turn): PipelineAnswer {
  return new PipelineAnswer("cont", turn, "");
}

/** Stop here: the run completes without an output, for this reason. */
export function halt(reason: string): PipelineAnswer {
  return new PipelineAnswer("halt", null, reason);
}

/** For post-hooks: the answer does not do; have it written again with this feedback. */
export function regenerate(feedback: string): PipelineAnswer {
  return new PipelineAnswer("regenerate", null, feedback);
}
