import { useState } from "react";
import type { Json, JsonObject } from "trackside/schema";
import { type AgentDraft, definitionOf, draftOfDefinition, readJsonObject } from "../draft/agent-draft.ts";
import type { FieldName } from "../draft/defaults.ts";
import type { Issue } from "../draft/issues.ts";

/** What the editor began with, or saved last. */
export interface Base {
  readonly definition: JsonObject;
  readonly autonomous: boolean;
}

interface State {
  readonly draft: AgentDraft;
  readonly autonomous: boolean;
  /** The text of the JSON tab while it differs from what the form would write. */
  readonly json: string | undefined;
  /** Fields that were changed: those of a new agent are silent until then. */
  readonly touched: ReadonlySet<string>;
}

const JSON_PLACE = "(JSON)";

function stateOf({ definition, autonomous }: Base): State {
  return { draft: draftOfDefinition(definition), autonomous, json: undefined, touched: new Set() };
}

/** The draft, its definition, and how far both are from what was saved. */
export function useDraft(start: Base) {
  const [base, setBase] = useState(start);
  const [state, setState] = useState(() => stateOf(start));
  const { definition, unread } = definitionOf(state.draft);
  const text = JSON.stringify(definition, null, 2);
  const jsonProblem = jsonProblemOf(state.json);
  const before = JSON.stringify(definitionOf(draftOfDefinition(base.definition)).definition, null, 2);
  const unreadable: Issue[] = [
    ...unread.map(({ path, message }) => ({ path, message })),
    ...(jsonProblem === undefined ? [] : [{ path: JSON_PLACE, message: jsonProblem }]),
  ];
  const dirty = text !== before || state.autonomous !== base.autonomous || unreadable.length > 0;
  return {
    draft: state.draft,
    autonomous: state.autonomous,
    touched: state.touched,
    definition,
    /** As JSON, in the form it is saved in. */
    text,
    /** What stands in the JSON tab. */
    json: state.json ?? text,
    jsonProblem,
    /** What cannot be saved because it cannot be read. */
    unreadable,
    dirty,
    change(next: Partial<AgentDraft>, field: string) {
      setState((now) => ({
        ...now,
        json: jsonProblemOf(now.json) === undefined ? undefined : now.json,
        draft: { ...now.draft, ...next, fields: withoutOdd(now.draft.fields, field) },
        touched: new Set(now.touched).add(field),
      }));
    },
    set(field: FieldName, value: Json | undefined) {
      setState((now) => {
        const { [field]: _, ...rest } = now.draft.fields;
        const fields = value === undefined ? rest : { ...now.draft.fields, [field]: value };
        const json = jsonProblemOf(now.json) === undefined ? undefined : now.json;
        return { ...now, json, draft: { ...now.draft, fields }, touched: new Set(now.touched).add(field) };
      });
    },
    setAutonomous(autonomous: boolean) {
      setState((now) => ({ ...now, autonomous }));
    },
    setJson(json: string) {
      const read = readJsonObject(json);
      setState((now) => ({
        ...now,
        json,
        ...("value" in read && {
          draft: draftOfDefinition(read.value),
          touched: new Set(Object.keys(read.value)),
        }),
      }));
    },
    /** The JSON tab was left: what could be read is shown in the usual form again. */
    tidyJson() {
      setState((now) => (jsonProblemOf(now.json) === undefined ? { ...now, json: undefined } : now));
    },
    /** From here on this is what was saved. The draft is that too, unless somebody went on typing. */
    rebase(next: Base, keep = false) {
      setBase(next);
      if (!keep) setState(stateOf(next));
    },
    reset() {
      setState(stateOf(base));
    },
  };
}

/** Rows in place of what the form could not show. */
function withoutOdd(fields: JsonObject, field: string): JsonObject {
  const { [field]: _, ...rest } = fields;
  return rest;
}

function jsonProblemOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const read = readJsonObject(text);
  return "problem" in read ? read.problem : undefined;
}
