import type { Json, JsonObject } from "../../schema/json.ts";
import type { Schema } from "./checking.ts";
import { isList, own, textsOf } from "./json-kinds.ts";
import type { SchemaReader } from "./read-schema.ts";
import type { SafePattern } from "./safe-pattern.ts";

/** The keywords of one schema, for the readers of rules. */
export class Keywords {
  readonly reader: SchemaReader;
  readonly raw: JsonObject;
  readonly at: string;

  constructor(reader: SchemaReader, raw: JsonObject, at: string) {
    this.reader = reader;
    this.raw = raw;
    this.at = at;
  }

  get(key: string): Json | undefined {
    return own(this.raw, key);
  }

  number(key: string): number | undefined {
    return this.#read(key, "a number", (value) => (typeof value === "number" ? value : undefined));
  }

  /** How many of something. */
  count(key: string): number | undefined {
    const isCount = (value: Json) => typeof value === "number" && Number.isInteger(value) && value >= 0;
    return this.#read(key, "a whole number of at least 0", (value) =>
      isCount(value) ? Number(value) : undefined,
    );
  }

  flag(key: string): boolean {
    return (
      this.#read(key, "true or false", (value) => (typeof value === "boolean" ? value : undefined)) ?? false
    );
  }

  names(key: string): readonly string[] | undefined {
    return this.#read(key, "a list of property names", textsOf);
  }

  schema(key: string): Schema | undefined {
    const given = this.get(key);
    return given === undefined ? undefined : this.reader.read(given, `${this.at}/${key}`);
  }

  schemas(key: string): readonly Schema[] | undefined {
    const given = this.#read(key, "a list of schemas that is not empty", (value) =>
      isList(value) && value.length > 0 ? value : undefined,
    );
    return given?.map((one, i) => this.reader.read(one, `${this.at}/${key}/${i}`));
  }

  map(key: string): ReadonlyMap<string, Schema> {
    return this.reader.readMap(this.get(key), `${this.at}/${key}`);
  }

  pattern(key: string): SafePattern | undefined {
    const given = this.get(key);
    return given === undefined ? undefined : this.reader.readPattern(given, `${this.at}/${key}`);
  }

  refuse(key: string, allowed: string): void {
    this.reader.refuse(`${this.at}/${key}`, this.get(key), allowed);
  }

  #read<T>(key: string, allowed: string, read: (value: Json) => T | undefined): T | undefined {
    const given = this.get(key);
    if (given === undefined) return undefined;
    const found = read(given);
    if (found === undefined) this.refuse(key, allowed);
    return found;
  }
}
