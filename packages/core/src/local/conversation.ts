import * as z from "zod";
import { project } from "../context/compaction/project.ts";
import { Rendering, Tally } from "../context/compaction/projected-log.ts";
import type { Rendered } from "../context/render.ts";
import { TracksideError } from "../errors.ts";
import { deepFreeze, frozenCopy } from "../schema/json.ts";
import type { Message } from "../schema/message.ts";
import { type LogEntry, logEntry, type Projection, projectionProblem } from "../schema/projection.ts";
import { MemoryArtifacts, type StoredArtifact, storedArtifact } from "./artifacts.ts";
import { hasAttachments } from "./attachments.ts";
import { newId } from "./ids.ts";
import type { Sent } from "./prompt-cache/sent.ts";

const stored = z.lazy(() =>
  z.object({
    v: z.literal(1),
    id: z.string().min(1),
    messages: z.array(logEntry),
    artifacts: z.array(storedArtifact).optional(),
  }),
);

type Count = (message: Message) => number;

/** A conversation's log as the engine holds it: append-only, with how it is sent. */
export class Log {
  readonly messages: LogEntry[];
  /** Where projections are. */
  readonly #projections: number[] = [];
  #rendering = new Rendering(null);
  /** By who counts: one for each model, as a rule. */
  #tallies: Map<Count, Tally> | undefined;
  /** Wire ids in use: providers want them unique within a request (T7). */
  readonly wireIds = new Set<string>();
  /** The last request of each lane, as long as the log is in memory. */
  readonly sent: { main: Sent | undefined; planner: Sent | undefined } = {
    main: undefined,
    planner: undefined,
  };
  activeRun: string | null = null;
  /** Whether any result in it speaks of an artifact: from then on models can read them (H9). */
  hasArtifacts = false;
  /** Whether any message in it has files in the artifact store. */
  hasAttachments = false;
  #artifacts: MemoryArtifacts | undefined;

  constructor(messages: LogEntry[], artifacts?: MemoryArtifacts) {
    this.messages = messages;
    this.#artifacts = artifacts;
    for (const [i, known] of messages.entries()) {
      this.#take(known, i);
      this.#lookAt(known);
    }
  }

  /** Artifacts in memory; with a store they are there and none is here. */
  get artifacts(): MemoryArtifacts {
    this.#artifacts ??= new MemoryArtifacts();
    return this.#artifacts;
  }

  append(added: LogEntry): void {
    if (added.role === "projection") this.#take(added, this.messages.length);
    this.messages.push(added);
    this.#lookAt(added);
  }

  #lookAt(entry: LogEntry): void {
    this.hasArtifacts ||= speaksOfArtifact(entry);
    this.hasAttachments ||= hasAttachments(entry);
  }

  /** The log up to a position as providers take it. Continues from the last rendering, up to the next compaction. */
  render(upTo: number): readonly Rendered[] {
    return this.#rendered(upTo).rendered;
  }

  /** How many messages of `render(upTo)` come before a position: where this turn's tail goes. */
  renderedLength(position: number, upTo: number): number {
    return this.#rendered(upTo).lengthAt(position);
  }

  /** The projection in force for a request up to a position. */
  projection(upTo: number): Projection | null {
    for (let i = this.#projections.length - 1; i >= 0; i--) {
      const at = this.#projections[i] ?? 0;
      const entry = at < upTo ? this.messages[at] : undefined;
      if (entry?.role === "projection") return entry;
    }
    return null;
  }

  /** The log up to a position as a model is shown it; or only what stands there for the log from `from` to `to`. */
  shown(upTo: number, from = 0, to = upTo): Message[] {
    return project(this.messages, to, this.projection(upTo), from);
  }

  /** How large `shown(upTo)` is. Counts only what is new since it was last asked. */
  tokens(upTo: number, count: Count): number {
    const projection = this.projection(upTo);
    this.#tallies ??= new Map();
    const kept = this.#tallies.get(count);
    if (kept !== undefined && kept.to <= upTo && kept.projection === projection)
      return kept.advance(this.messages, upTo);
    const tally = new Tally(projection, count);
    if (kept === undefined || kept.to <= upTo) this.#tallies.set(count, tally); // else it is a look back
    return tally.advance(this.messages, upTo);
  }

  /** What `tokens` has counted so far, message by message. */
  sizes(count: Count): ReadonlyMap<Message, number> {
    return this.#tallies?.get(count)?.sizes() ?? new Map();
  }

  /** The log as people see it: what was said, however it is sent, and nothing that only the model is told (B2). */
  said(from = 0, to = this.messages.length): Message[] {
    return this.messages
      .slice(from, to)
      .flatMap((entry) => (entry.role === "projection" ? [] : [withoutAdvisory(entry)]));
  }

  find(id: string): Message | undefined {
    const found = this.messages.findLast((known) => known.id === id);
    return found?.role === "projection" ? undefined : found;
  }

  #rendered(upTo: number): Rendering {
    const projection = this.projection(upTo);
    if (upTo < this.#rendering.to) {
      // A look back; the next step goes on from the one that is kept.
      const before = new Rendering(projection);
      before.advance(this.messages, upTo);
      return before;
    }
    if (this.#rendering.projection !== projection) this.#rendering = new Rendering(projection);
    this.#rendering.advance(this.messages, upTo);
    return this.#rendering;
  }

  #take(known: LogEntry, at: number): void {
    if (known.role === "assistant") {
      for (const part of known.parts) if (part.type === "tool_call") this.wireIds.add(part.wire_id);
    } else if (known.role === "projection") {
      this.#projections.push(at);
      for (const { messages } of known.cuts) for (const message of messages ?? []) this.#take(message, at);
    }
  }
}

function withoutAdvisory(message: Message): Message {
  if (!("advisory" in message)) return message;
  const { advisory: _, ...said } = message;
  return said;
}

function speaksOfArtifact(message: LogEntry): boolean {
  return message.role === "tool" && message.metadata.offloaded_artifact_id !== null;
}

/** Set by the class, whose own field the log is: a weak map with an entry for each run costs every collection. */
let logIn: (given: unknown) => Log | undefined;
let withLog: (conversation: Conversation, log: Log) => void;

/**
 * A conversation in memory: the log that `run(input, { conversation })` continues. One run at a time; turn it into JSON to
 * keep it.
 */
export class Conversation {
  readonly id: string;
  #log = new Log([]);

  constructor() {
    this.id = newId("conv");
  }

  static {
    logIn = (given) =>
      typeof given === "object" && given !== null && #log in given ? given.#log : undefined;
    withLog = (conversation, log) => {
      conversation.#log = log;
    };
  }

  /** Every message so far, oldest first. A copy. */
  get messages(): readonly Message[] {
    return deepFreeze(logOf(this).said());
  }

  /** The whole log: summaries go along, so that they are not made again, and so do artifacts that are in memory. */
  toJSON(): { v: 1; id: string; messages: readonly LogEntry[]; artifacts?: readonly StoredArtifact[] } {
    const log = logOf(this);
    const artifacts = log.artifacts.toJSON(); // those of sub-agents too, of which the log may not speak
    return {
      v: 1,
      id: this.id,
      messages: deepFreeze([...log.messages]),
      ...(artifacts.length > 0 ? { artifacts } : {}),
    };
  }

  static fromJSON(json: unknown): Conversation {
    const found = stored.safeParse(json);
    if (!found.success) {
      throw new TracksideError(
        "config_invalid",
        `This is no stored conversation: ${z.prettifyError(found.error)}`,
      );
    }
    for (const [i, entry] of found.data.messages.entries()) {
      const problem = entry.role === "projection" ? projectionProblem(entry, i) : undefined;
      if (problem === undefined) continue;
      const where = `messages.${i} (${entry.id})`;
      throw new TracksideError("config_invalid", `This is no stored conversation: ${where}: ${problem}`);
    }
    const artifacts = MemoryArtifacts.fromJSON(found.data.artifacts ?? []);
    return conversationWith(found.data.id, new Log([...frozenCopy(found.data.messages)], artifacts));
  }
}

/** A conversation that a store has: its id, and its log as the engine holds it. */
export function conversationWith(id: string, log: Log): Conversation {
  const conversation = new Conversation();
  Object.defineProperty(conversation, "id", { value: id, enumerable: true });
  withLog(conversation, log);
  return conversation;
}

export function logOf(conversation: Conversation): Log {
  const log = logIn(conversation);
  if (log === undefined)
    throw new TracksideError("config_invalid", "conversation: a Conversation of this package expected");
  return log;
}
