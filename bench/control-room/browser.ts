/** The browser of the machine, as the tests find it. It is loaded when it is needed: not every machine has one. */
import { type BrowserContext, chromium } from "playwright-core";
import { chromiumBrowser } from "../../scripts/services/chromium.ts";
import { builtWeb } from "../../scripts/web-build.ts";
import { inRoom, type Room } from "./room.ts";

/** A control room and a browser. Each visitor is signed in, and comes for the first time: with nothing in the cache. */
export async function inBrowser<T>(
  use: (room: Room, newVisitor: () => Promise<BrowserContext>) => Promise<T>,
): Promise<T> {
  await builtWeb();
  return inRoom((room) => visiting(room, (newVisitor) => use(room, newVisitor)));
}

async function visiting<T>(
  room: Room,
  use: (newVisitor: () => Promise<BrowserContext>) => Promise<T>,
): Promise<T> {
  const service = await chromiumBrowser();
  if ("missing" in service) throw new Error(service.missing);
  const browser = await chromium.launch({ executablePath: service.program, args: [...service.flags] });
  try {
    const first = await browser.newContext();
    const answer = await first.request.post(`${room.url}/api/v1/session`, {
      data: room.login,
      headers: { origin: room.url },
    });
    if (!answer.ok()) throw new Error(`signing in: ${answer.status()} ${await answer.text()}`);
    const storageState = await first.storageState();
    await first.close();
    return await use(() => browser.newContext({ storageState, viewport: { width: 1280, height: 800 } }));
  } finally {
    await browser.close();
    await service.stop();
  }
}
