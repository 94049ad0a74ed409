import type { CompiledQuery } from "kysely";
import type { Builder, Operation } from "./store/store.ts";

interface Compilable<Row> {
  compile(): CompiledQuery<Row>;
}

/** Stands where a value will be. */
class Place {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/**
 * A query that is built once for each database and afterwards only given its values: building it costs more than running
 * it. Its shape must not depend on the values.
 *
 * @example
 * const endRun = hot<{ id: string; at: number }>((db, value) =>
 *   db.updateTable("runs").set({ ended_at: value("at") }).where("id", "=", value("id")),
 * );
 * yield* endRun(db, { id, at });
 */
export function hot<Values extends object, Row = unknown>(
  build: (db: Builder, value: <K extends keyof Values & string>(name: K) => Values[K]) => Compilable<Row>,
): (db: Builder, values: Values) => Operation<{ rows: readonly Row[]; changed: number }> {
  const built = new WeakMap<Builder, CompiledQuery<Row>>();
  return function* (db, values) {
    let query = built.get(db);
    if (query === undefined) {
      query = build(db, (name) => new Place(name) as never).compile(); // only carried through to `parameters`
      built.set(db, query);
    }
    const parameters = query.parameters.map((given) =>
      given instanceof Place ? values[given.name as keyof Values] : given,
    );
    const found = yield { ...query, parameters };
    return { rows: found.rows as readonly Row[], changed: found.changed }; // what the query's own type says
  };
}
