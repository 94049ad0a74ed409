import type { Page } from "playwright-core";
import { inBrowser } from "../control-room/browser.ts";
import { median } from "../measure.ts";
import type { Scenario } from "./scenario.ts";

const VISITS = 5;

export const webFirstPage: Scenario = {
  title: "The first visit to the control room, nothing cached, in Chromium",
  contestants: ["trackside"],
  once: true,
  metrics: [
    { key: "paintMillis", label: "ms to the first paint", digits: 0 },
    { key: "contentMillis", label: "ms until the page shows what it is about", digits: 0 },
    { key: "scriptKB", label: "kB of compressed script", digits: 0 },
    { key: "allKB", label: "kB of everything", digits: 0 },
    { key: "requests", label: "requests", digits: 0 },
  ],
  measure: () =>
    inBrowser(async (room, newVisitor) => {
      const visits: Visit[] = [];
      // The first one is not counted: the browser and the server read their own files from disk.
      for (let i = 0; i <= VISITS; i++) {
        const context = await newVisitor();
        const page = await context.newPage();
        await page.goto(room.url);
        await page.getByRole("heading", { level: 1 }).waitFor();
        await page.evaluate(SETTLED);
        if (i > 0) visits.push(await seen(page));
        await context.close();
      }
      const typical = (key: keyof Visit) => median(visits.map((visit) => visit[key]));
      return {
        values: {
          paintMillis: typical("paintMillis"),
          contentMillis: typical("contentMillis"),
          scriptKB: typical("scriptKB"),
          allKB: typical("allKB"),
          requests: typical("requests"),
        },
      };
    }),
};

interface Visit {
  paintMillis: number;
  contentMillis: number;
  scriptKB: number;
  allKB: number;
  requests: number;
}

/** Until nothing more was loaded for a while. A stream of events stays open, so the network is never idle. */
const SETTLED = `
(async () => {
  const loaded = () => performance.getEntriesByType("resource").length;
  for (let before = -1; before !== loaded(); ) {
    before = loaded();
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
})()`;

/** As text, since the types of a page's globals are not those of this process. */
const SEEN = `
new Promise((resolve) => {
  let content = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) content = entry.startTime;
  }).observe({ type: "largest-contentful-paint", buffered: true });
  setTimeout(() => {
    const files = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
    const bytes = (wanted) => wanted.reduce((sum, file) => sum + file.encodedBodySize, 0) / 1000;
    resolve({
      paintMillis: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN,
      contentMillis: content,
      scriptKB: bytes(files.filter(({ name }) => new URL(name).pathname.endsWith(".js"))),
      allKB: bytes(files),
      requests: files.length,
    });
  }, 200);
})`;

function seen(page: Page): Promise<Visit> {
  return page.evaluate<Visit>(SEEN);
}
