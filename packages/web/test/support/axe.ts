import axe, { type AxeResults, type Result } from "axe-core";
import type { Page } from "playwright-core";

const SERIOUS = ["serious", "critical"];

/**
 * Fails with what bars people from the page as it is now: rule, why, and every element. The policy of the page stays on:
 * the debugger evaluates axe, the page does not load it.
 */
export async function expectNoSeriousAxe(
  page: Page,
  { exclude = [] }: { exclude?: string[] } = {},
): Promise<void> {
  const found = await seriousOf(page, exclude);
  if (found.length === 0) return;
  const told = found.map(
    ({ id, impact, help, nodes }) =>
      `${impact} ${id}: ${help}\n${nodes.map(({ html, failureSummary }) => `    ${html}\n      ${failureSummary?.replaceAll("\n", "\n      ")}`).join("\n")}`,
  );
  throw new Error(`axe finds on ${page.url()}:\n${told.join("\n")}`);
}

async function seriousOf(page: Page, exclude: readonly string[]): Promise<Result[]> {
  await page.evaluate(axe.source);
  const options = { resultTypes: ["violations"] };
  const context = JSON.stringify(exclude.length === 0 ? {} : { exclude });
  // As text: the function would otherwise be checked against a page's globals, which have no axe.
  const results = await page.evaluate<AxeResults>(
    `axe.run(${exclude.length === 0 ? "document" : context}, ${JSON.stringify(options)})`,
  );
  return results.violations.filter(({ impact }) => SERIOUS.includes(impact ?? ""));
}
