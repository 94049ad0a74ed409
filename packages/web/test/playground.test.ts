import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test, vi } from "vitest";
import parts, { STORY, traffic } from "./playground-room.ts";
import { expectNoSeriousAxe } from "./support/axe.ts";
import { startControlRoom, startControlRoomProcess } from "./support/control-room.ts";
import { shoot } from "./support/shoot.ts";
import { browserSuite } from "./support/suite.ts";

vi.setConfig({ testTimeout: 300_000 }); // a browser and a server, when they get a turn

const transcript = (page: Page) => page.getByRole("log", { name: "Transcript" });
const composer = (page: Page) => page.locator("[data-composer]");
/** What stands in the transcript, without the times that go on. */
const words = async (page: Page) =>
  // biome-ignore lint/performance/useDomNodeTextContent: what is folded is not to be seen
  (await transcript(page).innerText()).replaceAll(/just now|\d+ s ago|\d+ min ago/g, "");

await browserSuite("the playground", (browser) => {
  test("a release, from the first word to the answer, is the same after a reload", async () => {
    const room = await startControlRoom(parts);
    const { page, context } = await browser.open();
    await room.signIn(context);
    await page.goto(`${room.url}/playground`);
    await page.getByRole("link", { name: "releaser", exact: true }).click();
    await composer(page).fill("Release checkout");
    await composer(page).press("Enter");

    await page.waitForURL(/conversation=/);
    await page.locator("[data-composer]:focus").waitFor();
    const panel = page.getByRole("complementary", { name: "Plan, tokens and cost" });
    await panel.getByText("Deploy checkout.").waitFor();
    expect(await words(page)).not.toContain("Check both services");
    await page.getByText("payments is fine.").waitFor();
    await transcript(page).getByText("checkout is fine.").waitFor();
    await page.getByRole("button", { name: "Approve deploy_service" }).waitFor();
    expect(await words(page)).toMatch(/^Release checkout\n/);
    await expectNoSeriousAxe(page);
    await shoot(page, "playground-waiting");

    // What is said meanwhile is received, and joins once the run goes on.
    await composer(page).fill("Tell the team");
    await page.getByRole("button", { name: "Steer" }).click();
    await page.getByText("Received. It joins at the next step.").waitFor();
    traffic.isClosed = true;
    onTestFinished(() => {
      traffic.isClosed = false;
    });
    await page.getByRole("button", { name: "Approve deploy_service" }).click();
    await page.getByRole("dialog").getByText("cannot be taken back").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Approve deploy_service" }).click();
    await page.getByRole("progressbar", { name: "Progress of deploy_service" }).waitFor();
    await page.getByText("moving traffic").waitFor();
    traffic.isClosed = false;
    await page.getByText("Said while it ran").waitFor();
    await panel.getByText("Done", { exact: true }).waitFor();
    await expect.poll(() => page.getByText("Received. It joins").count()).toBe(0);
    // What was open because of its question opens again by hand only.
    await page.getByRole("button", { name: /^deploy_service/ }).click();
    const before = await words(page);
    expect(before).toContain("Checkout is deployed.");
    await page.reload();
    await page.getByText("Checkout is deployed.").waitFor();
    expect(await words(page)).toBe(before);
    await shoot(page, "playground-done");
  });

  test("a decision made elsewhere shows in place, and who may not decide is told who can", async () => {
    const room = await startControlRoom(parts);
    const client = await room.client();
    const { conversation_id, run_id } = await client.startRun({
      body: { agent: "releaser", input: "Release checkout" },
    });
    const tab = await browser.open({ size: "phone", scheme: "dark" });
    await room.signIn(tab.context, "viewer");
    await tab.page.goto(`${room.url}/playground/releaser?conversation=${conversation_id}`);
    await tab.page.getByText("An approver or admin can decide this.").waitFor();
    expect(await composer(tab.page).isDisabled()).toBe(true);
    await expectNoSeriousAxe(tab.page);
    await shoot(tab.page, "playground-viewer-phone");
    const [id = ""] = (await client.getRun({ params: { id: run_id } })).pending_approvals;
    await client.decideApproval({ params: { id }, body: { choice: "reject", reason: "not on a Friday" } });
    await transcript(tab.page).getByText("rejected", { exact: true }).first().waitFor();
    await tab.page.getByText("Checkout was not deployed.").waitFor();
    await tab.page.getByRole("button", { name: "Show plan, tokens and cost" }).click();
    await tab.page.getByRole("dialog").getByText("Deploy checkout.").waitFor();
  });

  test("what a model writes is text and loads nothing; stop, branch and retry", async () => {
    const room = await startControlRoom(parts);
    const { page, context } = await browser.open();
    await room.signIn(context);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.goto(`${room.url}/playground/writer`);
    const say = async (text: string) => {
      await composer(page).fill(text);
      await composer(page).press("Enter");
    };
    await say("a report");
    await page.getByText("Image: a picture").waitFor();
    await page.getByText("<img src=x onerror=alert(1)>").waitFor();
    expect(await transcript(page).locator("img, script").count()).toBe(0);
    expect(await transcript(page).locator("a[href^=javascript]").count()).toBe(0);
    expect(asked.filter((url) => !url.startsWith(room.url))).toEqual([]);
    await shoot(page, "playground-report");

    await say("an endless one");
    await page.getByText(/word3\b/).waitFor();
    await composer(page).press("Escape");
    await page.getByText("Cut off here.").waitFor();
    await transcript(page).getByText("Stopped", { exact: true }).waitFor();

    const first = transcript(page).getByRole("article").first();
    await first.hover();
    await first.getByRole("button", { name: "Actions of this message" }).last().click();
    await page.getByRole("menuitem", { name: /Branch from here/ }).click();
    await page.getByRole("button", { name: "branch 2" }).waitFor();
    await expect.poll(() => page.getByText(/word3\b/).count()).toBe(0);
    await say("fail");
    await page.getByText("the model is out of order").first().waitFor();
    await shoot(page, "playground-failed");
    await page.getByRole("button", { name: "Retry" }).click();
    await page.getByRole("button", { name: "branch 3" }).waitFor();
    await page.getByText("Tried again from").waitFor();
  });

  test("E4 X3 a server that is killed under an open page goes on, and nothing is there twice", async () => {
    const room = await startControlRoomProcess(join(import.meta.dirname, "playground-room.ts"));
    const { page, context } = await browser.open({
      expect: [/ERR_CONNECTION|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE|Failed to (load|fetch)|network error/i],
    });
    await room.signIn(context);
    await page.goto(`${room.url}/playground/writer`);
    await composer(page).fill("a story");
    await composer(page).press("Enter");
    await page.getByText(/word3\b/).waitFor();
    await room.kill();
    await page
      .getByText(/not reach|offline|no connection/i)
      .first()
      .waitFor();
    await room.restart();
    await page.getByText(/word119\b/).waitFor();
    const text = await words(page);
    expect(text.split(STORY).length - 1).toBe(1);
    expect(text.match(/word0\b/g)).toHaveLength(1);
    await page.reload();
    await page.getByText(/word119\b/).waitFor();
    expect((await words(page)).match(/word0\b/g)).toHaveLength(1);
  });
});
