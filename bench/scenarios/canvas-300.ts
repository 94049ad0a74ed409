import type { CDPSession, Page } from "playwright-core";
import { inBrowser } from "../control-room/browser.ts";
import { post } from "../control-room/http.ts";
import { median } from "../measure.ts";
import type { Scenario } from "./scenario.ts";

const NODES = 300;
const VISITS = 3;
const MOVING_MS = 3_000;
const MIDDLE = '.react-flow__node[data-id="n4-14"]';

export const canvas300: Scenario = {
  title: "A workflow of 300 nodes on the canvas, in Chromium",
  contestants: ["trackside"],
  once: true,
  metrics: [
    { key: "openMillis", label: "ms until its nodes are shown", digits: 0 },
    { key: "panPerSecond", label: "frames per second while it is panned", digits: 0 },
    { key: "dragPerSecond", label: "frames per second while a node is dragged", digits: 0 },
    { key: "busyMillis", label: "ms of the page's own thread per frame", digits: 1 },
    { key: "checkMillis", label: "ms to check all of it in the browser", digits: 0 },
    { key: "validateMillis", label: "ms until the server has said what is wrong with it", digits: 0 },
  ],
  measure: () =>
    inBrowser(async (room, newVisitor) => {
      const definition = wide(NODES);
      await post(room, "/workflows", { definition });
      const validations: number[] = [];
      for (let i = 0; i < 10; i++) {
        const begin = performance.now();
        await post(room, "/workflows/validate", { definition, name: definition.name });
        validations.push(performance.now() - begin);
      }
      const visits: Visit[] = [];
      // The first one is not counted: the browser and the server read their own files from disk.
      for (let i = 0; i <= VISITS; i++) {
        const context = await newVisitor();
        const page = await context.newPage();
        const visit = await seen(page, `${room.url}/workflows/${definition.name}`);
        if (i > 0) visits.push(visit);
        await context.close();
      }
      const typical = (key: keyof Visit) => median(visits.map((visit) => visit[key]));
      return {
        values: {
          openMillis: typical("openMillis"),
          panPerSecond: typical("panPerSecond"),
          dragPerSecond: typical("dragPerSecond"),
          busyMillis: typical("busyMillis"),
          checkMillis: typical("checkMillis"),
          validateMillis: median(validations),
        },
      };
    }),
};

interface Visit {
  openMillis: number;
  panPerSecond: number;
  dragPerSecond: number;
  busyMillis: number;
  checkMillis: number;
}

/** Ten columns of conditions and agents, each node after two of the column before. */
function wide(count: number): { name: string; nodes: Record<string, unknown>; edges: unknown[] } {
  const rows = count / 10;
  const id = (column: number, row: number) => `n${column}-${row % rows}`;
  const nodes: Record<string, unknown> = {};
  const edges: unknown[] = [];
  for (let column = 0; column < 10; column++)
    for (let row = 0; row < rows; row++) {
      const before = column === 0 ? undefined : id(column - 1, row);
      nodes[id(column, row)] = {
        kind: "agent",
        agent: "one-step",
        prompt: before === undefined ? "{{ input.text }}" : `Go on with {{ nodes.${before} }}`,
        position: { x: column * 280, y: row * 110 },
      };
      if (before === undefined) continue;
      edges.push(
        { from: before, to: id(column, row) },
        { from: id(column - 1, row + 1), to: id(column, row) },
      );
    }
  return { name: "wide", nodes, edges };
}

async function seen(page: Page, url: string): Promise<Visit> {
  const begin = performance.now();
  await page.goto(url);
  await page.locator(".react-flow__node").first().waitFor();
  await page.evaluate(NEXT_FRAME);
  const openMillis = performance.now() - begin;
  await page.evaluate(CHECKED);
  const box = await page.locator(".react-flow").boundingBox();
  if (box === null) throw new Error("the canvas is not there");
  const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  // As many nodes in sight as somebody who works on them would have.
  await page.mouse.move(at.x, at.y);
  await page.keyboard.down("Control");
  for (let i = 0; i < 6; i++) await page.mouse.wheel(0, -120);
  await page.keyboard.up("Control");
  const thread = await page.context().newCDPSession(page);
  await thread.send("Performance.enable", { timeDomain: "threadTicks" });
  const before = await busy(thread);
  const corner = { x: box.x + 12, y: box.y + 12 };
  const panned = await moved(page, corner, { x: box.width - 40, y: box.height - 40 });
  const node = await page.locator(MIDDLE).boundingBox();
  if (node === null) throw new Error("the node in the middle is not in sight");
  const dragged = await moved(page, { x: node.x + 30, y: node.y + 20 }, { x: 200, y: 200 });
  const busyMillis = ((await busy(thread)) - before) / (panned.length + dragged.length);
  const checkMillis = await page.evaluate<number>(CHECKED);
  return {
    openMillis,
    panPerSecond: perSecond(panned),
    dragPerSecond: perSecond(dragged),
    busyMillis,
    checkMillis,
  };
}

/** What the page's own thread worked so far, whoever else wanted the processor. */
async function busy(thread: CDPSession): Promise<number> {
  const { metrics } = await thread.send("Performance.getMetrics");
  return 1000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN);
}

/** Presses, moves round for a while and lets go: the times between frames meanwhile. */
async function moved(
  page: Page,
  from: { x: number; y: number },
  within: { x: number; y: number },
): Promise<number[]> {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.evaluate(BEGIN);
  const end = performance.now() + MOVING_MS;
  for (let step = 0; performance.now() < end; step++) {
    const turn = (step / 60) * Math.PI;
    await page.mouse.move(
      from.x + (within.x / 2) * (1 - Math.cos(turn)),
      from.y + (within.y / 2) * (1 - Math.cos(turn)),
    );
  }
  const frames = await page.evaluate<number[]>(END);
  await page.mouse.up();
  return frames.slice(1).map((time, i) => time - (frames[i] ?? time));
}

function perSecond(gaps: readonly number[]): number {
  return (1000 * gaps.length) / gaps.reduce((sum, gap) => sum + gap, 0);
}

/** As text, since the types of a page's globals are not those of this process. */
const NEXT_FRAME = "new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))";
const BEGIN = `
window.frames_ = [];
window.counting_ = true;
(function count(time) {
  window.frames_.push(time);
  if (window.counting_) requestAnimationFrame(count);
})(performance.now());
undefined`;
const END = "window.counting_ = false; window.frames_";
/** What the page notes of its last check, once there is one. */
const CHECKED = `
(async () => {
  for (;;) {
    const last = performance.getEntriesByName("workflow-check").at(-1);
    if (last) return last.duration;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
})()`;
