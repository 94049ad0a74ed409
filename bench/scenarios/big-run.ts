import { inBrowser } from "../control-room/browser.ts";
import { get, post, readEvents } from "../control-room/http.ts";
import { median } from "../measure.ts";
import { PROMPT } from "../workload.ts";
import type { Scenario } from "./scenario.ts";

const VISITS = 5;

export const bigRun: Scenario = {
  title: "Opening a run of 10,000 events in Chromium",
  contestants: ["trackside"],
  once: true,
  metrics: [
    { key: "events", label: "events", digits: 0 },
    { key: "openMillis", label: "ms until its first events are shown", digits: 0 },
    { key: "scrollMillis", label: "ms of the longest frame while it is scrolled to its end", digits: 0 },
    { key: "elements", label: "elements in the page", digits: 0 },
  ],
  measure: () =>
    inBrowser(async (room, newVisitor) => {
      const { run_id } = await post<{ run_id: string }>(room, "/runs", { agent: "long", input: PROMPT });
      await (await readEvents(room, `/runs/${run_id}/stream`, () => {})).ended;
      const { items } = JSON.parse(await get(room, `/runs/${run_id}/events`)) as { items: unknown[] };
      const visits: { openMillis: number; scrollMillis: number; elements: number }[] = [];
      // The first one is not counted: the browser and the server read their own files from disk.
      for (let i = 0; i <= VISITS; i++) {
        const context = await newVisitor();
        const page = await context.newPage();
        const begin = performance.now();
        await page.goto(`${room.url}/runs/${run_id}`);
        await page.locator(ROWS).nth(5).waitFor();
        await page.evaluate(NEXT_FRAME);
        const openMillis = performance.now() - begin;
        const scrollMillis = await page.evaluate<number>(SCROLLED);
        const elements = await page.locator("*").count();
        if (i > 0) visits.push({ openMillis, scrollMillis, elements });
        await context.close();
      }
      const typical = (key: "openMillis" | "scrollMillis" | "elements") =>
        median(visits.map((visit) => visit[key]));
      return {
        values: {
          events: items.length,
          openMillis: typical("openMillis"),
          scrollMillis: typical("scrollMillis"),
          elements: typical("elements"),
        },
      };
    }),
};

/** A row of the waterfall or of the list of events. */
const ROWS = "main :is([data-row], [data-index], [role=row], [role=treeitem])";

// As text, since the types of a page's globals are not those of this process.
const NEXT_FRAME = "new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))";
const SCROLLED = `
(async () => {
  const row = document.querySelector(${JSON.stringify(ROWS)});
  let scroller = row.parentElement;
  while (scroller !== null && scroller.scrollHeight <= scroller.clientHeight + 1) scroller = scroller.parentElement;
  scroller ??= document.scrollingElement;
  let last = performance.now();
  let longest = 0;
  for (let part = 1; part <= 60; part++) {
    scroller.scrollTop = (scroller.scrollHeight * part) / 60;
    await new Promise((resolve) => requestAnimationFrame(resolve));
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }
  return longest;
})()`;
