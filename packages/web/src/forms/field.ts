import type { Json, JsonObject } from "trackside/schema";
import type { Path } from "./path.ts";

interface Common {
  /** Where its value stands. In the template of a list or a map the last key is `*`; `placed` puts it in its place. */
  readonly path: Path;
  readonly label: string;
  readonly description: string | undefined;
  readonly required: boolean;
  /** Whether null is a value of it. */
  readonly nullable: boolean;
  /** What counts while nothing is said; undefined for nothing. */
  readonly default: Json | undefined;
  /** The part of the schema it was made of; what it refers to is in the whole one. */
  readonly schema: JsonObject;
}

export interface TextField extends Common {
  readonly kind: "text" | "multiline";
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  readonly pattern: string | undefined;
  /** As JSON Schema has it: `email`, `uri`, `date-time`, `password`, … */
  readonly format: string | undefined;
}

export interface NumberField extends Common {
  readonly kind: "number";
  readonly integer: boolean;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  /** For the arrows of the input; `any` lets it be as fine as one likes. */
  readonly step: number | "any";
}

export interface SwitchField extends Common {
  readonly kind: "switch";
  /** The only value it may have: then its other position says nothing at all. */
  readonly only: boolean | undefined;
}

export interface Choice {
  readonly value: Json;
  readonly label: string;
  readonly description: string | undefined;
}

export interface SelectField extends Common {
  readonly kind: "select";
  readonly choices: readonly Choice[];
}

/** How many entries there may be. */
interface Counted extends Common {
  readonly minItems: number;
  readonly maxItems: number | undefined;
  /** Whether one entry may stand without a list around it. */
  readonly alone: boolean;
}

export interface MultiSelectField extends Counted {
  readonly kind: "multi-select";
  readonly choices: readonly Choice[];
}

export interface ListField extends Counted {
  readonly kind: "list";
  readonly item: Field;
}

/** Entries by a name that is free to choose. */
export interface MapField extends Common {
  readonly kind: "map";
  readonly nameDescription: string | undefined;
  readonly namePattern: string | undefined;
  readonly entry: Field;
}

export interface GroupField extends Common {
  readonly kind: "group";
  readonly fields: readonly Field[];
}

/** What no other field can show: a text editor for JSON. */
export interface JsonField extends Common {
  readonly kind: "json";
}

/** A part of a form. */
export type Field =
  | TextField
  | NumberField
  | SwitchField
  | SelectField
  | MultiSelectField
  | ListField
  | MapField
  | GroupField
  | JsonField;

/** A field at another place, with everything below it: an entry of a list from the list's template. */
export function placed<F extends Field>(field: F, path: Path): F;
export function placed(field: Field, path: Path): Field {
  const below = (inner: Field) => placed(inner, [...path, ...inner.path.slice(field.path.length)]);
  switch (field.kind) {
    case "list":
      return { ...field, path, item: below(field.item) };
    case "map":
      return { ...field, path, entry: below(field.entry) };
    case "group":
      return { ...field, path, fields: field.fields.map(below) };
    default:
      return { ...field, path };
  }
}
