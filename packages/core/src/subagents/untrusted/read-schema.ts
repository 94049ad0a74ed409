import type { Json, JsonObject } from "../../schema/json.ts";
import { preview } from "../../schema/preview.ts";
import { arrayRules } from "./array-rules.ts";
import type { Schema } from "./checking.ts";
import { combinedRules } from "./combined-rules.ts";
import { hasCircle } from "./has-circle.ts";
import { isObject, own } from "./json-kinds.ts";
import { Keywords } from "./keywords.ts";
import { numberRules, stringRules } from "./leaf-rules.ts";
import { objectRules } from "./object-rules.ts";
import { SafePattern } from "./safe-pattern.ts";
import { valueRules } from "./value-rules.ts";

const MAX_REFS = 100;
const MAX_PATTERN_STATES = 5000;
const MAX_PROBLEMS = 10;
const SHOWN_POINTER = 200;

/** Keywords that would change what others mean, or need what was found elsewhere: with a word on what to do instead. */
const REFUSED: Readonly<Record<string, string>> = {
  $id: "leave it out",
  $anchor: "refer by path, such as #/$defs/item",
  $dynamicAnchor: "refer by path, such as #/$defs/item",
  $dynamicRef: "use $ref",
  $recursiveAnchor: "use $ref",
  $recursiveRef: "use $ref",
  $vocabulary: "leave it out",
  unevaluatedProperties: "use additionalProperties",
  unevaluatedItems: "use items",
};

/** Reads a schema of JSON, keyword by keyword; unknown ones are ignored. */
export class SchemaReader {
  readonly problems: string[] = [];
  /** Every schema in it, by where it is. */
  readonly #schemas = new Map<string, Schema>();
  readonly #refs: { readonly to: string; readonly at: string; readonly bind: (schema: Schema) => void }[] =
    [];
  #patternStates = 0;

  /** Reads a whole schema. It is sound only if `problems` is empty then. */
  readWhole(raw: JsonObject): Schema {
    const schema = this.read(raw, "#");
    this.#bindRefs();
    if (this.problems.length === 0 && hasCircle(this.#schemas.values()))
      this.problems.push("its $ref form a circle that never comes to a part of the value");
    return schema;
  }

  read(raw: Json, at: string): Schema {
    const schema: Schema = { rules: [], inPlace: [] };
    this.#schemas.set(at, schema);
    if (raw === true) return schema;
    if (raw === false) {
      schema.rules.push((value, place, checking) => checking.expects("nothing", value, place));
      return schema;
    }
    if (!isObject(raw)) {
      this.refuse(at, raw, "a schema (an object, true or false)");
      return schema;
    }
    for (const [key, instead] of Object.entries(REFUSED))
      if (Object.hasOwn(raw, key)) this.problem(`${at}/${key}`, `not supported; ${instead}`);
    this.#readRef(raw, at, schema);
    for (const key of ["$defs", "definitions"]) this.readMap(own(raw, key), `${at}/${key}`);
    const here = new Keywords(this, raw, at);
    schema.rules.push(
      ...valueRules(here),
      ...numberRules(here),
      ...stringRules(here),
      ...arrayRules(here),
      ...objectRules(here),
      ...combinedRules(here, schema.inPlace),
    );
    return schema;
  }

  /** The schemas of an object of schemas. */
  readMap(given: Json | undefined, at: string): ReadonlyMap<string, Schema> {
    const found = new Map<string, Schema>();
    if (given === undefined) return found;
    if (!isObject(given)) this.refuse(at, given, "an object of schemas");
    else
      for (const [name, inner] of Object.entries(given))
        found.set(name, this.read(inner, `${at}/${escaped(name)}`));
    return found;
  }

  readPattern(source: Json, at: string): SafePattern | undefined {
    if (typeof source !== "string") {
      this.refuse(at, source, "a regular expression (text)");
      return undefined;
    }
    if (this.#patternStates > MAX_PATTERN_STATES) return undefined; // told before
    const read = SafePattern.read(source);
    if (!read.ok) {
      this.problem(at, `a simple regular expression expected, but ${read.problem} (${preview(source)})`);
      return undefined;
    }
    this.#patternStates += read.pattern.states;
    if (this.#patternStates > MAX_PATTERN_STATES)
      this.problem(at, `the patterns add up to more than ${MAX_PATTERN_STATES} states; simplify them`);
    return read.pattern;
  }

  refuse(at: string, given: Json | undefined, allowed: string): void {
    this.problem(at, `${allowed} expected, ${preview(given)} given`);
  }

  problem(at: string, text: string): void {
    if (this.problems.length < MAX_PROBLEMS) this.problems.push(`${shownPointer(at)}: ${text}`);
  }

  #readRef(raw: JsonObject, at: string, schema: Schema): void {
    const ref = own(raw, "$ref");
    if (ref === undefined) return;
    const to = typeof ref === "string" ? pointerOf(ref) : undefined;
    if (to === undefined) {
      this.refuse(`${at}/$ref`, ref, "a path within this schema, such as #/$defs/item");
      return;
    }
    if (this.#refs.length === MAX_REFS) this.problem(`${at}/$ref`, `at most ${MAX_REFS} $ref are allowed`);
    if (this.#refs.length >= MAX_REFS) return;
    const bind = (target: Schema) => {
      schema.inPlace.push(target);
      schema.rules.unshift((value, place, checking) => checking.fits(target, value, place));
    };
    this.#refs.push({ to, at: `${at}/$ref`, bind });
  }

  #bindRefs(): void {
    for (const { to, at, bind } of this.#refs) {
      const target = this.#schemas.get(to);
      if (target !== undefined) bind(target);
      else
        this.problem(
          at,
          `a path to a schema in this schema expected, ${preview(to)} leads to none; use $defs`,
        );
    }
  }
}

/** A reference as we note places, or undefined when it leads elsewhere. */
function pointerOf(ref: string): string | undefined {
  if (ref !== "#" && !ref.startsWith("#/")) return undefined;
  try {
    return ref
      .split("/")
      .map((part) => escaped(decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~")))
      .join("/");
  } catch {
    return undefined;
  }
}

function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

function shownPointer(at: string): string {
  return at.length > SHOWN_POINTER ? `…${at.slice(-SHOWN_POINTER)}` : at;
}
