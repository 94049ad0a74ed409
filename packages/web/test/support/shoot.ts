import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";

/** A picture of the page for people to look at, in the folder that TRACKSIDE_SHOTS names; without it nothing happens. */
export async function shoot(page: Page, name: string, { whole = false } = {}): Promise<void> {
  const folder = process.env["TRACKSIDE_SHOTS"];
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: whole });
}
