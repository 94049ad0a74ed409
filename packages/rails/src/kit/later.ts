/** Makes a thing when it is first asked for: whoever loads all rails uses a few of them. */
export function later<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
