import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { aptInstall } from "./apt.ts";
import { isProgram } from "./find-program.ts";
import { type Missing, missing } from "./service.ts";
import { Watcher } from "./watcher.ts";

const run = promisify(execFile);
const ANSWER_MS = 60_000;

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const ELSEWHERE = [
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** A browser that tests may start. It is a program and no server: who starts it ends it. */
export interface ChromiumService {
  /** To start it with. */
  readonly program: string;
  readonly version: string;
  /** What it starts with where nobody sees it: no screen, and nothing asked of the network that a page does not ask. */
  readonly flags: readonly string[];
  /** For what belongs to these tests alone; removed when they are over. */
  readonly dir: string;
  stop(): Promise<void>;
}

/**
 * Disabled features. Chromium heeds only the last list on its command line, so this one repeats the features that Playwright
 * disables and tests depend on.
 */
const DISABLED = [
  // A window warms up two popups of its address bar and a spare renderer: more work than the page under test.
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "SpareRendererForSitePerProcess",
  // From Playwright.
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "ThirdPartyStoragePartitioning",
];

const FLAGS = [
  "--headless=new",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // Containers give /dev/shm 64 MB, which one long page fills.
  "--disable-dev-shm-usage",
  `--disable-features=${DISABLED.join(",")}`,
];

export async function chromiumBrowser(): Promise<ChromiumService | Missing> {
  const why = await provideChromium();
  const found = await firstThatAnswers();
  if ("reason" in found) return missing("Chromium", why ?? found.reason, "apt-get install chromium");
  const dir = mkdtempSync(join(tmpdir(), "trackside-chromium-"));
  const watcher = new Watcher(dir, "SIGTERM");
  // Its own sandbox wants a user: root has to go without.
  const flags = process.getuid?.() === 0 ? [...FLAGS, "--no-sandbox"] : FLAGS;
  return { ...found, flags, dir, stop: () => watcher.close() };
}

/** Whether there is a program of its name, which says nothing about what it does. */
export const hasChromium = () => programs().length > 0;

/** Undefined when it is there, else why not. */
export async function provideChromium(): Promise<string | undefined> {
  return hasChromium() ? undefined : aptInstall("chromium", hasChromium);
}

function programs(): readonly string[] {
  const onPath = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const folders = [...onPath, "/usr/bin", "/usr/local/bin"];
  const files = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [...new Set([...files, ...ELSEWHERE].filter(isProgram))];
}

/** Some systems have a program of that name which only says how to install it. */
async function firstThatAnswers(): Promise<
  { readonly program: string; readonly version: string } | { readonly reason: string }
> {
  const silent: string[] = [];
  for (const program of programs()) {
    try {
      const { stdout } = await run(program, ["--version"], { timeout: ANSWER_MS });
      const version = /(?:Chromium|Chrome)\D*(\d+(?:\.\d+)+)/.exec(stdout)?.[1];
      if (version !== undefined) return { program, version };
      silent.push(program);
    } catch {
      silent.push(program);
    }
  }
  return { reason: silent.length === 0 ? "not found" : `${silent.join(" and ")} does not say its version` };
}
