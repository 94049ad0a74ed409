import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults, Result } from "axe-core";
import type { BrowserContext, Page } from "playwright-core";

/** Half as long as what the package exports as its source, and every page that is checked compiles it. */
const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const SERIOUS = ["serious", "critical"];

export interface AxeOptions {
  /** Selectors of elements to leave out. */
  readonly exclude?: readonly string[];
  /** Ids of the only rules to check. All by default. */
  readonly rules?: readonly string[];
}

/** Gives every page that the context opens its own copy of axe, compiled when the page is checked. For many page loads. */
export const provideAxe = (context: BrowserContext): Promise<unknown> =>
  context.addInitScript(`globalThis.loadAxe = () => {${SOURCE}\n};`);

/**
 * Fails with the serious violations on the page: rule, reason, and every element. The security policy of the page stays on,
 * because the debugger evaluates axe and the page does not load it.
 */
export async function expectNoSeriousAxe(page: Page, options: AxeOptions = {}): Promise<void> {
  const found = await seriousOf(page, options);
  if (found.length === 0) return;
  const told = found.map(
    ({ id, impact, help, nodes }) =>
      `${impact} ${id}: ${help}\n${nodes.map(({ html, failureSummary }) => `    ${html}\n      ${failureSummary?.replaceAll("\n", "\n      ")}`).join("\n")}`,
  );
  throw new Error(`axe finds on ${page.url()}:\n${told.join("\n")}`);
}

async function seriousOf(page: Page, { exclude = [], rules }: AxeOptions): Promise<Result[]> {
  const isLoaded = await page.evaluate<boolean>(
    "if (!globalThis.axe) globalThis.loadAxe?.(); !!globalThis.axe",
  );
  if (!isLoaded) await page.evaluate(SOURCE);
  const context = exclude.length === 0 ? "document" : JSON.stringify({ exclude });
  const options = { resultTypes: ["violations"], ...(rules && { runOnly: { type: "rule", values: rules } }) };
  // As text: TypeScript would check a function against the globals of Node, which have no axe.
  const results = await page.evaluate<AxeResults>(`axe.run(${context}, ${JSON.stringify(options)})`);
  return results.violations.filter(({ impact }) => SERIOUS.includes(impact ?? ""));
}
