import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { expectNoSeriousAxe } from "./axe.ts";
import { browserSuite } from "./suite.ts";

// Of the page, where they are asked for.
declare const innerWidth: number;
declare const matchMedia: (query: string) => { readonly matches: boolean };

const STRICT = "default-src 'self'; script-src 'self'; style-src 'self'; object-src 'none'; base-uri 'none'";

await browserSuite("the browser of the tests", (browser) => {
  test("pages are as wide as the screen they stand for, in the scheme that was asked for", async () => {
    const url = await serve({ "/": page("<p>Here</p>") });
    const seen = async (options: Parameters<typeof browser.open>[0]) => {
      const { page } = await browser.open(options);
      await page.goto(url);
      return page.evaluate(() => [innerWidth, matchMedia("(prefers-color-scheme: dark)").matches]);
    };
    expect(await seen({})).toEqual([1280, false]);
    expect(await seen({ size: "phone", scheme: "dark" })).toEqual([390, true]);
  });

  test("errors, refused scripts and answers of 500 are problems, unless the test expects them", async () => {
    const url = await serve({
      "/": page(`<script src="/broken.js"></script><script>inline()</script>`),
      "/broken.js": `console.error("said"); fetch("/gone"); throw new Error("thrown");`,
    });
    const { page: tab, problems } = await browser.open({ expect: [/said/] });
    const back = problems.expect(/thrown/);
    await tab.goto(url);
    await expect.poll(() => problems.found.join("\n"), { timeout: 60_000 }).toMatch(/gone: 500/);
    await expect.poll(() => problems.found.join("\n"), { timeout: 60_000 }).toMatch(/Security Policy/i);
    expect(problems.found.join("\n")).not.toMatch(/said|thrown/);
    expect(() => problems.check()).toThrow("problems nobody expected");
    back();
    problems.expect(/500|Security Policy/);
    await tab.reload();
    await expect
      .poll(() => problems.found.join("\n"), { timeout: 60_000 })
      .toMatch(/uncaught: Error: thrown/);
    problems.forgive();
  });

  test("axe finds what is serious under a strict policy, and nothing on a page that is well made", async () => {
    const url = await serve({
      "/good": page("<main><h1>Good</h1><button>Approve</button></main>"),
      "/bad": page("<main><h1>Bad</h1><img src='/i.png'><button></button></main>"),
      "/i.png": "",
    });
    const { page: tab } = await browser.open();
    await tab.goto(`${url}/good`);
    await expectNoSeriousAxe(tab);
    await tab.goto(`${url}/bad`);
    await expect(expectNoSeriousAxe(tab)).rejects.toThrow(/critical button-name[\s\S]*<button>/);
    await expectNoSeriousAxe(tab, { exclude: ["button", "img"] });
  });

  test("a second tab is the same person, another page is not", async () => {
    const url = await serve({ "/": page("<p>Here</p>") });
    const one = await browser.open();
    await one.page.goto(url);
    await one.page.evaluate(() => localStorage.setItem("who", "one"));
    const kept = async ({ page: tab }: typeof one) => {
      await tab.goto(url);
      return tab.evaluate(() => localStorage.getItem("who"));
    };
    expect(await kept(await browser.openBeside(one))).toBe("one");
    expect(await kept(await browser.open())).toBeNull();
  });
});

const page = (body: string) =>
  `<!doctype html><html lang="en"><head><title>Test</title><meta name="viewport" content="width=device-width"><link rel="icon" href="/i.png"></head><body>${body}</body></html>`;

const servers: { close(): void }[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

async function serve(files: Readonly<Record<string, string>>): Promise<string> {
  const server = createServer((request, response) => {
    const file = files[request.url ?? ""] ?? (request.url === "/i.png" ? "" : undefined);
    const type = request.url?.endsWith(".js") ? "text/javascript" : "text/html";
    response.writeHead(file === undefined ? 500 : 200, {
      "content-type": type,
      "content-security-policy": STRICT,
    });
    response.end(file);
  });
  servers.push(server);
  onTestFinished(() => void server.closeAllConnections());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port, not on a path
}
