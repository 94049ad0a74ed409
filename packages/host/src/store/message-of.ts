/** What a driver's error says. Node puts several failed addresses into one error that says nothing itself. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(messageOf).join("; ");
  return error instanceof Error ? error.message || error.name : String(error);
}
