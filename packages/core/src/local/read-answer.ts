import type { Checked, CompiledSchema } from "../tools/compile-schema.ts";

const FENCED = /^```(?:json)?\s*\n([\s\S]*?)\n?```$/;

/** Reads a final answer against the agent's output schema. A Markdown fence around the JSON is forgiven. */
export async function readAnswer(text: string, schema: CompiledSchema | null): Promise<Checked> {
  if (schema === null) return { ok: true, value: text };
  const trimmed = text.trim();
  let value: unknown;
  try {
    value = JSON.parse(FENCED.exec(trimmed)?.[1] ?? trimmed);
  } catch (error) {
    return {
      ok: false,
      problem: `it is not valid JSON (${error instanceof Error ? error.message : String(error)})`,
    };
  }
  return schema.check(value);
}
