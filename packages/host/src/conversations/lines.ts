import { type LogEntry, type Message, TracksideError } from "trackside";
import { artifactId, MemoryArtifacts, newId } from "trackside/engine";
import { logEntry, projectionProblem } from "trackside/schema";
import * as z from "zod";
import type { KeptArtifact } from "../artifacts/import.ts";
import { mapMessages } from "../journal/codec.ts";

const head = z.object({
  v: z.literal(1),
  kind: z.literal("conversation"),
  id: z.string().min(1),
  agent: z.string().nullable(),
  title: z.string().nullable(),
});

type Head = Omit<z.infer<typeof head>, "v" | "kind">;

/** What the lines are about. Exports from before artifacts had a line of their own have none. */
export interface ExportedConversation extends Head {
  readonly messages: readonly LogEntry[];
  readonly artifacts: readonly KeptArtifact[];
}

/** JSON lines: one for the conversation, one for each entry of its log, and then one for each artifact. */
export function writeLines({ messages, artifacts, ...of }: ExportedConversation): string {
  const first = { v: 1, kind: "conversation", ...of };
  const entries = messages.map((entry) => mapMessages(entry, withoutSecrets));
  const lines = [first, ...entries].map((one) => JSON.stringify(one));
  for (const kept of artifacts)
    for (const stored of new MemoryArtifacts([kept]).toJSON())
      lines.push(JSON.stringify({ kind: "artifact", ...stored }));
  return `${lines.join("\n")}\n`;
}

/** What a provider signed goes back to that provider only. */
function withoutSecrets(message: Message): Message {
  if (message.role !== "assistant") return message;
  const parts = message.parts.map((part) => {
    if (part.type !== "reasoning" || part.provider === undefined) return part;
    const { provider: _signed, ...shown } = part;
    return { ...shown, changed: true as const };
  });
  return { ...message, parts };
}

interface Line {
  readonly number: number;
  readonly text: string;
  readonly value: unknown;
}

/**
 * Reads what `writeLines` wrote, and checks all of it. Artifacts get new ids, in the log too: their own may be in use by the
 * conversation that this is a copy of.
 */
export function readLines(text: string): ExportedConversation {
  const [first, ...others] = linesOf(text);
  const found = head.safeParse(first?.value);
  if (!found.success)
    throw new TracksideError(
      "config_invalid",
      `Line 1 is no exported conversation: ${z.prettifyError(found.error)}`,
    );
  const { id, agent, title } = found.data;
  const { renamed, artifacts } = readArtifacts(others.filter(isArtifact));
  const messages = others
    .filter((line) => !isArtifact(line))
    .map((line, at) => readEntry({ ...line, value: rename(line, renamed) }, at));
  return { id, agent, title, messages, artifacts };
}

function linesOf(text: string): Line[] {
  const lines = text.split("\n").map((one, i) => ({ number: i + 1, text: one }));
  const [first = { number: 1, text: "" }, ...others] = lines.filter((one) => one.text.trim() !== "");
  return [first, ...others].map((one) => ({ ...one, value: parsed(one) }));
}

function parsed({ text, number }: Omit<Line, "value">): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new TracksideError("config_invalid", `Line ${number} is no JSON: ${why}`);
  }
}

const artifactLine = z.object({ kind: z.literal("artifact") });

function isArtifact({ value }: Line): boolean {
  return artifactLine.safeParse(value).success;
}

function readArtifacts(lines: readonly Line[]): {
  readonly renamed: ReadonlyMap<string, string>;
  readonly artifacts: readonly KeptArtifact[];
} {
  const imported = newId("import");
  const renamed = new Map<string, string>();
  const artifacts = lines.flatMap(({ value, number }, i) => {
    const found = MemoryArtifacts.stored.safeParse(value);
    if (!found.success)
      throw new TracksideError(
        "config_invalid",
        `Line ${number} is no artifact: ${z.prettifyError(found.error)}`,
      );
    const stored = found.data;
    if (renamed.has(stored.id))
      throw new TracksideError(
        "config_invalid",
        `Line ${number} has the artifact ${stored.id} a second time.`,
      );
    const id = artifactId(imported, i);
    renamed.set(stored.id, id);
    return [...MemoryArtifacts.fromJSON([{ ...stored, id }])];
  });
  return { renamed, artifacts };
}

/** Wherever an entry speaks of an artifact: results do in their text, calls in their arguments. */
function rename(line: Line, renamed: ReadonlyMap<string, string>): unknown {
  if (renamed.size === 0) return line.value;
  const text = line.text.replace(/art_[\w.-]*\w/g, (word) => {
    // What looks like the rest of an id may be the word that follows one.
    for (let id = word; id !== ""; id = id.slice(0, Math.max(0, id.search(/[.-]\w*$/)))) {
      const other = renamed.get(id);
      if (other !== undefined) return other + word.slice(id.length);
    }
    return word;
  });
  return text === line.text ? line.value : parsed({ ...line, text });
}

function readEntry({ value, number }: Line, at: number): LogEntry {
  const found = logEntry.safeParse(value);
  const problem = found.success ? entryProblem(found.data, at) : z.prettifyError(found.error);
  if (found.success && problem === undefined) return found.data;
  throw new TracksideError("config_invalid", `Line ${number} is no message: ${problem}`);
}

function entryProblem(entry: LogEntry, at: number): string | undefined {
  return entry.role === "projection" ? projectionProblem(entry, at) : undefined;
}
