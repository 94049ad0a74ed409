/**
 * The key of a decision (X10): a new one for each decision, the same one when the same decision is sent again, because
 * nobody knows whether the first attempt arrived.
 */
export class DecisionKeys {
  readonly #make: () => string;
  #last: { readonly decision: string; readonly key: string } | undefined;

  constructor(make: () => string = newKey) {
    this.#make = make;
  }

  keyOf(decision: unknown): string {
    const written = JSON.stringify(decision);
    if (this.#last?.decision !== written) this.#last = { decision: written, key: this.#make() };
    return this.#last.key;
  }

  /** The server has answered for good: the same words later are another decision. */
  answered(): void {
    this.#last = undefined;
  }
}

/** Pages over plain http have no `randomUUID`. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `inbox-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
