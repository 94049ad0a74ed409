import type { Page } from "playwright-core";
import { Agent } from "trackside";
import { scriptedModel } from "trackside/testing";
import { expect, test, vi } from "vitest";
import { expectNoSeriousAxe } from "./support/axe.ts";
import { startControlRoom } from "./support/control-room.ts";
import { shoot } from "./support/shoot.ts";
import { browserSuite } from "./support/suite.ts";

vi.setConfig({ testTimeout: 300_000 }); // a browser and a server, when they get a turn
const PATIENT = { timeout: 120_000, interval: 100 };
const PASSWORD = "wet moss under bridges";

/** A model that stops in the middle of its answer until it is told to go on. */
function pausing(words: string, after: number) {
  let said = 0;
  let goOn = () => {};
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const model = scriptedModel([{ text: words, chunkDelayMs: 1 }], {
    loop: true,
    sleep: () => (++said > after ? gate : Promise.resolve()),
  });
  return { model, goOn: () => goOn() };
}

async function signIn(page: Page, name: string, password: string): Promise<void> {
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

const place = (page: Page, name: string) => page.getByRole("navigation").getByRole("link", { name });

await browserSuite("the first visit", (browser) => {
  test("H1 the printed link makes the admin once, who finds the agents and gets a first answer as it is written", async () => {
    const { model, goOn } = pausing("The kettle is on and the tea is green.", 6);
    const clerk = new Agent({ name: "clerk", model, instructions: "You answer." });
    const room = await startControlRoom({ agents: [clerk], setUp: false });
    const link = await room.signedInUrl();
    const { page } = await browser.open({ expect: [/40[13]/] });

    // Nobody is in yet, and nobody gets in without the link.
    await page.goto(`${room.url}/runs`);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.goto(`${room.url}/setup`);
    await page.getByText("This page needs the setup link").waitFor();

    // Pasted into the address bar of this very page, which a browser does not load anew for it.
    await page.goto(link);
    await page.getByRole("heading", { name: "Make the first admin" }).waitFor();
    // What is secret does not stay in the address bar, nor in the history.
    await expect.poll(() => page.url(), PATIENT).toBe(`${room.url}/setup`);
    await expectNoSeriousAxe(page);
    await shoot(page, "first-setup");
    await page.getByLabel("Name").fill("ada");
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await page.getByLabel("Password again").fill("something else");
    await page.getByRole("button", { name: "Make the admin and sign in" }).click();
    await page.getByText("The two passwords differ.").waitFor();
    await page.getByLabel("Password again").fill(PASSWORD);
    await page.getByRole("button", { name: "Make the admin and sign in" }).click();

    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await shoot(page, "first-overview");
    await place(page, "Agents").click();
    await page.getByRole("link", { name: "clerk", exact: true }).waitFor();
    await place(page, "Playground").click();
    await page.getByRole("link", { name: "clerk", exact: true }).click();
    await page.getByLabel("Message to clerk").fill("Is there tea?");
    await page.keyboard.press("Enter");
    const transcript = page.getByRole("article");
    await transcript.getByText("The kettle").waitFor();
    expect(await transcript.last().textContent()).not.toContain("green");
    goOn();
    await transcript.getByText("The kettle is on and the tea is green.").waitFor();
    await expectNoSeriousAxe(page);
    await shoot(page, "first-answer");

    // The second one who holds the link, and somebody who guesses one.
    for (const secret of [new URL(link).hash, `#link=${"a".repeat(43)}`]) {
      const other = await browser.open({ expect: [/40[0-9]/] });
      await other.page.goto(`${room.url}/setup${secret}`);
      await other.page.getByLabel("Name").fill("eve");
      await other.page.getByLabel("Password", { exact: true }).fill(PASSWORD);
      await other.page.getByLabel("Password again").fill(PASSWORD);
      await other.page.getByRole("button", { name: "Make the admin and sign in" }).click();
      await other.page.getByRole("alert").waitFor();
      await other.page.goto(`${room.url}/settings/users`);
      await other.page.getByRole("heading", { name: "Sign in" }).waitFor();
    }
    const { items } = await (await room.client()).listUsers();
    expect(items.map(({ name, role }) => [name, role])).toEqual([["ada", "admin"]]);
  });

  test("signing out ends it everywhere; a deep link survives signing in; a wrong password tells nothing", async () => {
    const room = await startControlRoom({
      agents: [new Agent({ name: "clerk", model: scriptedModel([]) })],
      password: PASSWORD,
    });
    const tab = await browser.open({ expect: [/401/] });
    const { page } = tab;
    await page.goto(await room.signedInUrl());
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await place(page, "Agents").click();
    await page.getByRole("heading", { name: "Agents" }).waitFor();
    const beside = await browser.openBeside(tab);
    await beside.page.goto(`${room.url}/agents`);
    await beside.page.getByRole("link", { name: "clerk", exact: true }).waitFor();

    await page.getByRole("button", { name: "You, theme and sign-out" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.goBack(); // nothing of the room comes back with it
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await beside.page.keyboard.press("g");
    await beside.page.keyboard.press("r");
    await beside.page.getByRole("heading", { name: "Sign in" }).waitFor();

    const wanted = "/runs?status=failed&agent=clerk";
    await page.goto(`${room.url}${wanted}`);
    const answers: string[] = [];
    for (const [name, password] of [
      ["ada", "not hers"],
      ["nobody-at-all", "not hers"],
    ] as const) {
      await signIn(page, name, password);
      const problem = page.getByRole("alert");
      await problem.waitFor();
      await expect.poll(() => page.getByRole("button", { name: "Sign in" }).isEnabled(), PATIENT).toBe(true);
      answers.push((await problem.textContent()) ?? "");
    }
    expect(new Set(answers)).toEqual(new Set(["Name or password is wrong."]));
    await expectNoSeriousAxe(page);
    await shoot(page, "first-wrong-password");
    await signIn(page, "ada", PASSWORD);
    await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
    const { pathname, searchParams } = new URL(page.url());
    expect([pathname, searchParams.get("status"), searchParams.get("agent")]).toEqual([
      "/runs",
      "failed",
      "clerk",
    ]);

    // A link that is pasted where the form is shown signs in, too.
    await tab.context.clearCookies();
    await page.goto(`${room.url}/agents`);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    const fresh = new URL(await room.signedInUrl());
    await page.evaluate(`location.hash = ${JSON.stringify(fresh.hash)}`);
    await page.getByRole("heading", { name: "Agents" }).waitFor();

    // A way back that leads elsewhere is not followed.
    await tab.context.clearCookies();
    for (const away of [
      "https://evil.example/",
      "//evil.example/",
      "/\\evil.example",
      "javascript:alert(1)",
    ]) {
      await page.goto(`${room.url}/sign-in?redirect=${encodeURIComponent(away)}`);
      await signIn(page, "ada", PASSWORD);
      await page.getByRole("navigation").first().waitFor();
      expect(new URL(page.url()).origin).toBe(room.url);
      await tab.context.clearCookies();
    }
  });
});
