import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { PageProblems } from "./page-problems.ts";

/** What pages wait for comes when the machine gets to it: a wait this long is a failure, not slowness. */
const PATIENCE_MS = 120_000;

const SIZES = {
  desktop: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
} as const;

export interface PageOptions {
  readonly size?: keyof typeof SIZES;
  readonly scheme?: "light" | "dark";
  /** Problems of the page that the test brings about on purpose, as they are written. */
  readonly expect?: readonly RegExp[];
  /** More of Playwright's, such as `permissions`. */
  readonly context?: Parameters<Browser["newContext"]>[0];
}

/** A tab that a test drives. A problem in it that the test did not expect fails the test. */
export interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly problems: PageProblems;
}

export interface OpenBrowser {
  readonly browser: Browser;
  /** In a context of its own, with nothing stored; closed when the test ends. */
  open(options?: PageOptions): Promise<OpenPage>;
  /** One more tab of the same context: the same person, signed in alike. */
  openBeside(tab: OpenPage): Promise<OpenPage>;
  close(): Promise<void>;
}

/** Connects to the browser at `url`. Closing the connection closes the contexts that it opened, not the browser. */
export async function openBrowser(url: string): Promise<OpenBrowser> {
  const browser = await chromium.connect(url, { timeout: PATIENCE_MS });
  const tab = async (context: BrowserContext, expected: readonly RegExp[]): Promise<OpenPage> => {
    const page = await context.newPage();
    const problems = new PageProblems(page, expected);
    return { page, context, problems };
  };
  return {
    browser,
    open: async ({ size = "desktop", scheme = "light", expect = [], context: more = {} } = {}) => {
      const context = await browser.newContext({
        ...SIZES[size],
        colorScheme: scheme,
        // Half-way through a transition a page looks like neither of its states.
        reducedMotion: "reduce",
        locale: "en-GB",
        timezoneId: "UTC",
        ...more,
      });
      context.setDefaultTimeout(PATIENCE_MS);
      const opened = await tab(context, expect);
      onTestFinished(async () => {
        await context.close();
        opened.problems.check();
      });
      return opened;
    },
    openBeside: async ({ context, problems }) => {
      const opened = await tab(context, problems.expected);
      onTestFinished(async () => {
        await opened.page.close();
        opened.problems.check();
      });
      return opened;
    },
    close: () => browser.close(),
  };
}
