import { chromiumBrowser } from "./chromium.ts";
import type { Missing } from "./service.ts";

const START_MS = 120_000;

/** A running browser that Playwright clients connect to. Each client sees only the contexts it opened. */
export interface ChromiumServer {
  /** For `chromium.connect` of Playwright. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts Chromium. The browser ends with this process, because Playwright drives it through a pipe. */
export async function chromiumServer(): Promise<ChromiumServer | Missing> {
  const service = await chromiumBrowser();
  if ("missing" in service) return service;
  const { chromium } = await import("playwright-core"); // a megabyte that only browser tests need
  const server = await chromium.launchServer({
    executablePath: service.program,
    headless: true,
    args: [...service.flags],
    host: "127.0.0.1",
    // The browser keeps its profile and its temporary files in the folder that is removed with it.
    env: { PATH: process.env["PATH"] ?? "", HOME: service.dir, TMPDIR: service.dir },
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    timeout: START_MS,
  });
  return {
    url: server.wsEndpoint(),
    stop: async () => {
      await server.close();
      await service.stop();
    },
  };
}
