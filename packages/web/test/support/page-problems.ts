import type { Page } from "playwright-core";

/** What went wrong in a page that no test looks for: errors in its console, in its code, and requests that failed. */
export class PageProblems {
  readonly #found: string[] = [];
  readonly #expected: RegExp[];

  constructor(page: Page, expected: readonly RegExp[]) {
    this.#expected = [...expected];
    page.on("console", (message) => {
      if (message.type() === "error") this.#add(`console: ${message.text()} (${message.location().url})`);
    });
    page.on("pageerror", (error) => this.#add(`uncaught: ${error.stack ?? error.message}`));
    page.on("requestfailed", (request) => {
      const why = request.failure()?.errorText ?? "unknown";
      // A page that goes away, or a component that has what it wanted, drops what it was still asking for.
      if (why !== "net::ERR_ABORTED") this.#add(`request: ${request.method()} ${request.url()}: ${why}`);
    });
    page.on("response", (response) => {
      if (response.status() >= 500)
        this.#add(`response: ${response.request().method()} ${response.url()}: ${response.status()}`);
    });
    page.on("crash", () => this.#add("the page crashed"));
  }

  get expected(): readonly RegExp[] {
    return this.#expected;
  }

  /** From now on such problems are what the test is about. Returns what takes that back. */
  expect(pattern: RegExp): () => void {
    this.#expected.push(pattern);
    return () => {
      const at = this.#expected.lastIndexOf(pattern);
      if (at >= 0) this.#expected.splice(at, 1);
    };
  }

  get found(): readonly string[] {
    return this.#found;
  }

  /** What was found so far was looked at by the test itself. */
  forgive(): void {
    this.#found.length = 0;
  }

  check(): void {
    if (this.#found.length > 0)
      throw new Error(`the page had problems nobody expected:\n${this.#found.join("\n")}`);
  }

  #add(problem: string): void {
    if (!this.#expected.some((pattern) => pattern.test(problem))) this.#found.push(problem);
  }
}
