import { ToolFile } from "trackside";
import { contentOf, fileOf, type KeptOutcome, toOutput } from "trackside/engine";
import type { HeldContent } from "../artifacts/desk.ts";

/** Above this an outcome is kept in the artifact store, so that rows stay small. */
const LARGE = 8192;

/** Where an outcome is that is too large for its row, or has files. */
interface Held {
  readonly type: "text" | "json";
  readonly artifact: string;
  readonly files: readonly {
    readonly artifact: string;
    readonly media_type: string;
    readonly name?: string;
  }[];
}

type HeldKept = Omit<KeptOutcome, "executed"> & {
  readonly executed: { readonly kind: "returned"; readonly held: Held };
};

/** An outcome as its row has it, and what goes beside the row: all of what is large, and files. */
export function holdOutcome(
  kept: KeptOutcome,
  prefix: string,
): { readonly kept: KeptOutcome | HeldKept; readonly beside: readonly HeldContent[] } {
  if (kept.executed.kind !== "returned") return { kept, beside: [] };
  const { value } = kept.executed;
  const written = toOutput(value, { brief: true });
  if (!written.ok) return { kept: asJson(kept, written.problem), beside: [] };
  const { type, pieces, chars, files } = written;
  if (chars <= LARGE && files.length === 0) return { kept: asJson(kept, ""), beside: [] };
  const whole = { id: `${prefix}.held`, content: contentOf(type, pieces).content };
  const held: Held = {
    type,
    artifact: whole.id,
    files: files.map(({ mediaType, name }, i) => ({
      artifact: `${prefix}.held.${i}`,
      media_type: mediaType,
      ...(name === undefined ? {} : { name }),
    })),
  };
  const beside = files.map(({ data }, i) => ({
    id: `${prefix}.held.${i}`,
    content: [data],
  }));
  return { kept: { ...kept, executed: { kind: "returned", held } }, beside: [whole, ...beside] };
}

/** The same outcome again. */
export async function releaseOutcome(
  stored: unknown,
  read: (ids: readonly string[]) => Promise<ReadonlyMap<string, Uint8Array>>,
): Promise<KeptOutcome> {
  const kept = stored as KeptOutcome | HeldKept; // as `holdOutcome` wrote it
  if (!("held" in kept.executed)) return kept as KeptOutcome; // none of it is held
  const { type, artifact, files: stated } = kept.executed.held;
  const contents = await read([artifact, ...stated.map((file) => file.artifact)]);
  const content = (id: string): Uint8Array => {
    const found = contents.get(id);
    if (found === undefined) throw new Error(`the artifact ${id} is gone`);
    return found;
  };
  const files = stated.map(
    ({ artifact: id, media_type, name }) =>
      new ToolFile({ mediaType: media_type, data: content(id), ...(name === undefined ? {} : { name }) }),
  );
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(content(artifact));
  const value: unknown = type === "text" ? text : withFiles(JSON.parse(text), files);
  return { ...kept, executed: { kind: "returned", value } };
}

function withFiles(value: unknown, files: readonly ToolFile[]): unknown {
  if (files.length === 0 || !Array.isArray(value)) return value;
  return value.map((one) => fileOf(one, files)?.file ?? one);
}

/** What a tool returned may be no JSON; then the handler says so, and it must say so again. */
function asJson(kept: KeptOutcome, problem: string): KeptOutcome {
  try {
    const text = JSON.stringify(kept);
    if (problem === "" || text.length <= LARGE) return JSON.parse(text);
  } catch {
    // It is said below.
  }
  const message = problem === "" ? "its result could not be written as JSON" : problem;
  return { ...kept, executed: { kind: "failed", message } };
}
