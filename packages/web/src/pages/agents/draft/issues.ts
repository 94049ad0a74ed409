import { type Path, type Problem, readPath } from "../../../forms/schema-form.ts";

/** What is wrong with a definition, where, in words. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

/** The API repeats the path in front of its message; beside the field it is known. */
export function withoutPath({ path, message }: Issue): string {
  return message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message;
}

/** The issues of a definition, found by place. */
export class Issues {
  readonly all: readonly Issue[];
  readonly #paths: readonly Path[];

  constructor(all: readonly Issue[]) {
    this.all = all;
    this.#paths = all.map(({ path }) => readPath(path));
  }

  /** At a place and below it. */
  at(place: string): readonly Issue[] {
    const prefix = readPath(place);
    return this.all.filter((_, i) => beginsWith(this.#paths[i] ?? [], prefix));
  }

  /** The words beside a field; undefined where all is well. */
  words(place: string): string | undefined {
    return joined(this.at(place));
  }

  /** As a schema's form wants them: by path inside the value. */
  within(place: string): readonly Problem[] {
    const prefix = readPath(place);
    return this.all.flatMap((issue, i) => {
      const path = this.#paths[i] ?? [];
      return beginsWith(path, prefix)
        ? [{ path: path.slice(prefix.length), message: withoutPath(issue) }]
        : [];
    });
  }

  /** Those of these fields, by their first key. */
  ofFields(fields: readonly string[]): readonly Issue[] {
    return this.all.filter((_, i) => fields.includes(String(this.#paths[i]?.[0])));
  }
}

/** One sentence of several issues. */
export function joined(issues: readonly Issue[]): string | undefined {
  return issues.length === 0 ? undefined : issues.map(withoutPath).join("; ");
}

function beginsWith(path: Path, prefix: Path): boolean {
  return prefix.length <= path.length && prefix.every((key, i) => String(key) === String(path[i]));
}
