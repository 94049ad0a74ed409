/** A value that is there already, or will be. Waiting only where one must keeps a step with nothing to wait for cheap. */
export type Maybe<T> = T | Promise<T>;

export function after<T, R>(value: Maybe<T>, next: (value: T) => Maybe<R>): Maybe<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
