import type { Answer } from "@trackside/server/client";
import { createContext, useContext } from "react";
import type { Json } from "trackside/schema";
import type { AgentDraft } from "../draft/agent-draft.ts";
import { DEFAULTS, type FieldName } from "../draft/defaults.ts";
import type { Issues } from "../draft/issues.ts";

/** What an agent may be made of. */
export interface Registry {
  readonly tools: Answer<"listTools">["items"];
  readonly rails: Answer<"listRails">["items"];
  readonly hooks: Answer<"listHooks">["items"];
  readonly servers: Answer<"listServers">["items"];
  readonly models: Answer<"listModels">["items"];
  readonly providers: Answer<"listProviders">["items"];
  /** Names of the agents there are. */
  readonly agents: readonly string[];
}

export interface Editor {
  readonly draft: AgentDraft;
  readonly registry: Registry;
  readonly issues: Issues;
  readonly readOnly: boolean;
  readonly autonomous: boolean;
  setAutonomous(on: boolean): void;
  change(next: Partial<AgentDraft>, field: string): void;
  /** Undefined takes the field away: then its default counts. */
  set(field: FieldName, value: Json | undefined): void;
}

export const EditorContext = createContext<Editor | undefined>(undefined);

export function useEditor(): Editor {
  const editor = useContext(EditorContext);
  if (editor === undefined) throw new Error("useEditor is for what stands inside an AgentEditor");
  return editor;
}

/** The value of a field as its control can show it; what it cannot show is kept, and told beside it. */
export function useValue<T extends Json>(
  field: FieldName,
  isOne: (value: Json) => value is T,
): T | undefined {
  const { draft } = useEditor();
  const value = draft.fields[field] ?? (DEFAULTS[field] as Json);
  return isOne(value) ? value : undefined;
}

export const isText = (value: Json): value is string => typeof value === "string";
export const isNumber = (value: Json): value is number => typeof value === "number";
export const isFlag = (value: Json): value is boolean => typeof value === "boolean";
export const isNames = (value: Json): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");
