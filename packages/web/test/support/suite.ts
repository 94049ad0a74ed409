import { afterAll, beforeAll } from "vitest";
import { serviceSuite, sharedChromium } from "../../../../scripts/services/index.ts";
import { type OpenBrowser, openBrowser } from "./browser.ts";

/** A `describe` for tests in the browser that all test files of a run share. Skipped with a reason where there is none. */
export async function browserSuite(title: string, body: (browser: OpenBrowser) => void): Promise<void> {
  await serviceSuite(title, sharedChromium, ({ url }) => {
    let opened: OpenBrowser | undefined;
    beforeAll(async () => {
      opened = await openBrowser(url);
    });
    afterAll(() => opened?.close());
    const started = () => {
      if (opened === undefined)
        throw new Error("the browser is there inside tests, not while they are collected");
      return opened;
    };
    body({
      get browser() {
        return started().browser;
      },
      open: (options) => started().open(options),
      openBeside: (tab) => started().openBeside(tab),
      close: () => started().close(),
    });
  });
}
