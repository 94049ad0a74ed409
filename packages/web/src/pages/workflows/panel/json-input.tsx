import { useState } from "react";
import type { Json } from "trackside/schema";
import { type Path, pathText } from "../../../forms/path.ts";
import { sameJson } from "../../../forms/subschema.ts";
import { TextArea } from "../../../ui/text-field.tsx";
import { useAt, useWorkflowEditor } from "../editor/context.ts";

const written = (value: Json | undefined) =>
  value === undefined || value === null ? "" : JSON.stringify(value, null, 2);

/** A value as JSON. What is no JSON yet stays as it was typed, is told beside it, and stops the save. */
export function JsonInput({
  path,
  allows = () => undefined,
  empty,
  placeholder,
  rows = 4,
}: {
  path: Path;
  /** What is wrong with a value beyond its form; undefined for nothing. */
  allows?(value: Json): string | undefined;
  /** What an empty field stands for; undefined takes the value away. */
  empty?: Json;
  placeholder?: string;
  rows?: number;
}) {
  const { edit, unread } = useWorkflowEditor();
  const { value, readOnly, set } = useAt(path);
  // The text as it was typed, as long as it says what the definition has: it is not put in order under the caret.
  const [typed, setTyped] = useState<string>();
  const broken = unread[pathText(path)]?.text;
  const stands = typed !== undefined && sameJson(read(typed, empty).value, value) ? typed : undefined;
  const change = (text: string) => {
    setTyped(text);
    const { value: next, message } = read(text, empty);
    const problem = message ?? (next === undefined || next === null ? undefined : allows(next));
    if (problem === undefined) set(next);
    else edit({ type: "unread", path, unread: { text, message: problem } });
  };
  return (
    <TextArea
      mono
      rows={rows}
      spellCheck={false}
      disabled={readOnly}
      value={broken ?? stands ?? written(value)}
      onChange={change}
      {...(placeholder !== undefined && { placeholder })}
    />
  );
}

function read(text: string, empty: Json | undefined): { value?: Json; message?: string } {
  if (text.trim() === "") return empty === undefined ? {} : { value: empty };
  try {
    return { value: JSON.parse(text) as Json }; // what JSON.parse gives is JSON
  } catch (error) {
    return { message: `this is no JSON yet: ${error instanceof Error ? error.message : String(error)}` };
  }
}

export function isObjectOr(value: Json): string | undefined {
  const isOne = typeof value === "object" && value !== null && !Array.isArray(value);
  return isOne ? undefined : "has to be an object: { … }";
}
