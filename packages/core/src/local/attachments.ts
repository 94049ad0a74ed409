import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { ARTIFACT } from "../context/render.ts";
import { AgentConfigError } from "../errors.ts";
import type { UserPart } from "../schema/message.ts";
import { formatPath, issue } from "../schema/problems.ts";
import type { LogEntry } from "../schema/projection.ts";
import type { ArtifactReader } from "../tools/artifact.ts";
import { after, type Maybe } from "./maybe.ts";
import type { RunContext } from "./run-context.ts";

/** The artifacts that are attached to a message. */
export function attachedTo(parts: readonly UserPart[]): string[] {
  return parts.flatMap((part) =>
    part.type === "file" && part.source.kind === "artifact" ? [part.source.artifact_id] : [],
  );
}

export function hasAttachments(entry: LogEntry): boolean {
  return entry.role === "user" && attachedTo(entry.parts).length > 0;
}

/** Refuses a message with artifacts that its conversation does not have. */
export function refuseUnknown(
  parts: readonly UserPart[],
  isKnown: (id: string) => boolean,
  where = "run()",
): void {
  const issues = parts.flatMap((part, i) =>
    attachedTo([part]).flatMap((id) =>
      isKnown(id)
        ? []
        : [issue(formatPath(["input", i, "source", "artifact_id"]), id, "an artifact of the conversation")],
    ),
  );
  if (issues.length > 0) throw new AgentConfigError(where, issues);
}

type Content = Extract<LanguageModelV4Prompt[number], { role: "user" }>["content"];

/** A request with its attachments in it. They are loaded for the run, and are not in the log. */
export function withAttachments(
  run: RunContext,
  prompt: LanguageModelV4Prompt,
): Maybe<LanguageModelV4Prompt> {
  const ids = prompt.flatMap((message) => (message.role === "user" ? addressedIn(message.content) : []));
  if (ids.length === 0) return prompt;
  const known = loaded.get(run) ?? new Map<string, string>();
  loaded.set(run, known);
  return after(load(run.artifacts, ids, known), () =>
    prompt.map((message) =>
      message.role === "user" ? { ...message, content: filled(message.content, known) } : message,
    ),
  );
}

/** What was loaded, as long as its run lasts. */
const loaded = new WeakMap<RunContext, Map<string, string>>();

async function load(
  reader: ArtifactReader,
  ids: readonly string[],
  known: Map<string, string>,
): Promise<void> {
  for (const id of ids) {
    if (known.has(id)) continue;
    const ref = await reader.find(id);
    if (ref === undefined) throw new Error(`the artifact ${id} is gone`);
    const content = await reader.read(id, 0, ref.bytes);
    known.set(id, Buffer.from(content.buffer, content.byteOffset, content.length).toString("base64"));
  }
}

function addressedIn(content: Content): string[] {
  return content.flatMap((part) => {
    const id = part.type === "file" ? addressed(part.data) : undefined;
    return id === undefined ? [] : [id];
  });
}

function filled(content: Content, known: ReadonlyMap<string, string>): Content {
  return content.map((part) => {
    const data = part.type === "file" ? known.get(addressed(part.data) ?? "") : undefined;
    return part.type === "file" && data !== undefined ? { ...part, data: { type: "data", data } } : part;
  });
}

function addressed(data: Extract<Content[number], { type: "file" }>["data"]): string | undefined {
  const isAddress = data.type === "url" && data.url.protocol === ARTIFACT;
  return isAddress ? data.url.pathname : undefined;
}
