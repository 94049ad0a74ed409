/** A promise, or what merely behaves like one and may do so badly. */
export function isThenable(value: unknown): value is PromiseLike<never> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
