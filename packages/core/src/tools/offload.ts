import type { Json } from "../schema/json.ts";
import type { ToolOutput } from "../schema/message.ts";
import type { ArtifactDesk, ArtifactRef, NewArtifact } from "./artifact.ts";
import { contentOf, Encoded, type TextContent } from "./text-content.ts";
import { cutAt, isLonger } from "./text-cut.ts";
import { fileOf, type ToolValue, textOf } from "./to-output.ts";
import { isText, type ToolFile } from "./tool-file.ts";

/** A result as the log has it, and what was kept beside it. */
export interface Offloaded {
  readonly output: ToolOutput;
  readonly artifacts: readonly ArtifactRef[];
}

export interface OffloadInto {
  readonly callId: string;
  /** The tools whose words are in the result. */
  readonly sources: readonly string[];
  /** The agent's `offload_above_bytes`. */
  readonly above: number;
  readonly desk: Pick<ArtifactDesk, "put">;
  /** How the model reads on, if it can. */
  readonly reader: string | undefined;
}

/** Above this no model is given a result whole, whatever its agent allows. */
const LARGEST = 4_000_000;
/** So much of an artifact is shown: its beginning and its end. */
const SHOWN = 3_000;
const LEAST_SHOWN = 200;
/** A text file up to this size is shown whole. */
const SMALL_FILE = 4_000;
const LONGEST_ERROR = 32_768;
const SHORTEST_ERROR = 2_048;

/** Whether a result is not for the log as it is. */
export function isOversized(value: ToolValue, above: number): boolean {
  const most = Math.min(above, LARGEST);
  return listWithFiles(value) !== undefined || value.chars > most || isLonger(value.text, most);
}

/** The entries of a list that has files in it. A rail may have put something else in its place. */
function listWithFiles(value: ToolValue): readonly Json[] | undefined {
  if (value.files.length === 0) return undefined;
  const { output } = value;
  return output.type === "json" && Array.isArray(output.value) ? output.value : undefined;
}

/** Keeps what is too large, and every file, in the artifact store; what stays says where it is (T4). */
export async function offload(value: ToolValue, into: OffloadInto): Promise<Offloaded> {
  const artifacts: ArtifactRef[] = [];
  const put = async (artifact: Pick<NewArtifact, "media_type" | "content">): Promise<ArtifactRef> => {
    const { media_type, content } = artifact;
    const ref = await into.desk.put({
      media_type,
      content,
      call_id: into.callId,
      index: artifacts.length,
      sources: into.sources,
    });
    artifacts.push(ref);
    return ref;
  };
  let whole: TextContent;
  const list = listWithFiles(value);
  if (list === undefined) whole = contentOf(value.type, value.pieces);
  else {
    const { files } = value;
    const parts: string[] = [];
    for (const one of list) parts.push(await entryText(one, files, into, put));
    const text = parts.join("\n");
    if (!isLonger(text, Math.min(Math.max(into.above, SHOWN), LARGEST)))
      return { output: { type: "text", value: text }, artifacts };
    whole = contentOf("text", [text]);
  }
  const ref = await put(whole);
  const pointed = pointer(ref, whole, into);
  return { output: { type: "text", value: pointed }, artifacts: [ref, ...artifacts.slice(0, -1)] };
}

/** One entry of a list that has files in it, as the model reads it. */
async function entryText(
  one: Json,
  files: readonly ToolFile[],
  into: OffloadInto,
  put: (artifact: Pick<NewArtifact, "media_type" | "content">) => Promise<ArtifactRef>,
): Promise<string> {
  const found = fileOf(one, files);
  if (found === undefined) return typeof one === "string" ? one : JSON.stringify(one);
  const { file, text } = found;
  // A text that no rail has changed is kept byte for byte.
  const isChanged = text !== undefined && text !== textOf(file.data);
  const content = isChanged ? new Encoded([text]) : [new Uint8Array(file.data)]; // a copy, also of a Buffer: the tool may go on writing to its own
  const ref = await put({ media_type: file.mediaType, content });
  const name = file.name === undefined ? "A file" : `The file ${JSON.stringify(file.name)}`;
  const about = `[${name}: ${ref.bytes} bytes of ${ref.media_type}, kept as the artifact ${ref.id}`;
  if (text === undefined || text.length > SMALL_FILE) return `${about}.${howTo(ref, into, 0)}]`;
  return `${about}:]\n${text}`;
}

/** What stands for a result that was put away: where it is, how it begins and how it ends. */
function pointer(ref: ArtifactRef, { ends: text, chars }: TextContent, into: OffloadInto): string {
  const room = Math.min(SHOWN, Math.max(into.above, LEAST_SHOWN));
  const [head, tail] = ends(text, room);
  const size = `${ref.bytes} bytes of ${ref.media_type}`;
  if (head.length + tail.length >= chars)
    return joined(`[The result is kept as the artifact ${ref.id} (${size}). This is all of it:]`, text);
  const left = chars - head.length - tail.length;
  return joined(
    `[The result is too large to show: ${size}, kept as the artifact ${ref.id}.${howTo(ref, into, head.length)} Its beginning:]`,
    head,
    `[${left} characters left out here. Its end:]`,
    tail,
  );
}

function howTo({ id, media_type }: ArtifactRef, { reader }: OffloadInto, offset: number): string {
  if (reader === undefined) return "";
  if (!isText(media_type)) return ` ${reader} tells about it.`;
  const args = JSON.stringify({ artifact_id: id, ...(offset > 0 ? { offset } : {}) });
  return ` Read ${offset > 0 ? "on" : "it"} with ${reader} ${args}, or give "search" to find a text in it.`;
}

/** A piece of a text holds on to all of it; joined ones are a text of their own. */
function joined(...texts: string[]): string {
  return texts.join("\n");
}

/** An error is for the model and has no pages: what is too long of it goes. */
export function shortened(output: ToolOutput & { type: "error" }, above: number): ToolOutput {
  const { failure } = output;
  const most = Math.min(LONGEST_ERROR, Math.max(SHORTEST_ERROR, above));
  if (failure.message.length <= most) return output;
  const [head, tail] = ends(failure.message, most - 100);
  const left = failure.message.length - head.length - tail.length;
  const message = joined(head, `[… ${left} characters left out …]`, tail);
  return { ...output, failure: { ...failure, message } };
}

/** The beginning and the end of a text, two thirds and one; cut at a line's end where one is near. */
function ends(text: string, room: number): [head: string, tail: string] {
  if (text.length <= room) return [text, ""];
  const most = Math.floor((room * 2) / 3);
  const line = text.lastIndexOf("\n", most);
  const head = text.slice(0, line > most * 0.7 ? line : cutAt(text, most));
  const least = text.length - (room - most);
  const next = text.indexOf("\n", least) + 1;
  const isNear = next > 0 && next - least < (room - most) * 0.3;
  return [head, text.slice(isNear ? next : afterCut(text, least))];
}

function afterCut(text: string, at: number): number {
  const cut = cutAt(text, at);
  return cut < at ? at + 1 : at; // the character is left out, not torn
}
