import type { CompiledQuery } from "kysely";
import type { Operation, QueryRows } from "./store.ts";
import { StoreError } from "./store-error.ts";

/** Runs an operation to its end without ever waiting. */
export function runSync<T>(operation: Operation<T>, query: (query: CompiledQuery) => QueryRows): T {
  let step = operation.next();
  while (!step.done) {
    let found: QueryRows;
    try {
      found = query(checked(step.value));
    } catch (error) {
      abandon(operation, error);
      throw error;
    }
    step = operation.next(found);
  }
  return step.value;
}

/** The same, waiting at each query. */
export async function runAsync<T>(
  operation: Operation<T>,
  query: (query: CompiledQuery) => Promise<QueryRows>,
): Promise<T> {
  let step = operation.next();
  while (!step.done) {
    let found: QueryRows;
    try {
      found = await query(checked(step.value));
    } catch (error) {
      abandon(operation, error);
      throw error;
    }
    step = operation.next(found);
  }
  return step.value;
}

/**
 * Lets the operation's `finally` blocks run. The error ends the operation whatever it does with it: PostgreSQL has given
 * up the transaction by then, so an operation that caught it could only go on in SQLite.
 */
function abandon(operation: Operation<unknown>, error: unknown): void {
  try {
    if (!operation.throw(error).done) operation.return(undefined);
  } catch {
    // The same error again, or one of a `finally`: the first one is what the caller hears of.
  }
}

/** Text that one database would refuse and the other would change is refused by both. In JSON it is escaped, so bodies never meet this. */
function checked(query: CompiledQuery): CompiledQuery {
  for (const parameter of query.parameters)
    if (typeof parameter === "string" && (parameter.includes("\0") || !parameter.isWellFormed())) {
      const shown = JSON.stringify(parameter.length > 60 ? `${parameter.slice(0, 60)}…` : parameter);
      const problem = "holds a NUL character or half of a surrogate pair, which a text column cannot hold";
      throw new StoreError("misuse", `The text ${shown} ${problem}. Remove it, or store it inside JSON.`);
    }
  return query;
}
