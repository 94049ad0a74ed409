import type { Client } from "@trackside/server/client";
import { expect, test, vi } from "vitest";
import { expectNoSeriousAxe } from "./support/axe.ts";
import { type ControlRoomHere, startControlRoom } from "./support/control-room.ts";
import { shoot } from "./support/shoot.ts";
import { browserSuite } from "./support/suite.ts";
import { workflowRoom } from "./workflow-runs-room.ts";

vi.setConfig({ testTimeout: 300_000 }); // a browser and a server, when they get a turn
const PATIENT = { timeout: 120_000, interval: 100 };

const INPUT = { version: "2.14", services: ["checkout", "search", "payments"] };

async function start(client: Client, name: string, input: object, until: string): Promise<string> {
  const { run_id: id } = await client.startWorkflow({ params: { name }, body: { input: input as never } }); // JSON
  await reached(client, id, until);
  return id;
}

const reached = (client: Client, id: string, until: string) =>
  vi.waitFor(async () => expect((await client.getRun({ params: { id } })).status).toBe(until), PATIENT);

async function room(): Promise<{ there: ControlRoomHere; client: Client; mend(): void }> {
  const { parts, mend } = workflowRoom();
  const there = await startControlRoom(parts);
  return { there, client: await there.client(), mend };
}

await browserSuite("workflows in runs and inbox", (browser) => {
  test("W4 W5 a release is decided in the inbox, fails at a node, and is retried from there", async () => {
    const { there, client, mend } = await room();
    const id = await start(client, "release", INPUT, "waiting");
    const { page, context } = await browser.open();
    await there.signIn(context);

    // The run says where it waits, and leads to the question.
    await page.goto(`${there.url}/runs/${id}`);
    await page.getByText("It waits at sign-off.").waitFor();
    const nodes = page.getByRole("table", { name: "Nodes" });
    await nodes.getByRole("row", { name: /Waiting for you sign-off/ }).waitFor();
    await nodes.getByRole("row", { name: /Done builds 3 items/ }).waitFor();
    await nodes.getByRole("row", { name: /Not begun smoke/ }).waitFor();
    await expectNoSeriousAxe(page);
    await shoot(page, "workflow-run-waiting");
    await page.getByRole("link", { name: /Release 2.14 to production\?/ }).click();

    // The question has its evidence: what it shows, what led here, what each choice leads to.
    await page.getByRole("heading", { name: "release asks: Release 2.14 to production?" }).waitFor();
    const pane = page.getByRole("article", { name: "Approval" });
    for (const words of [
      "What follows ask cannot be taken back.",
      "Next: roll.",
      "It takes its rejected edge with your reason. Next: hold.",
      "Faster checkout, and two bugs less.",
      "started it with",
    ])
      await pane.getByText(words).first().waitFor();
    await expectNoSeriousAxe(page);
    await shoot(page, "workflow-question");
    await page.getByRole("button", { name: "Approve ask" }).click();
    await pane.getByText("has to be given").or(pane.locator("[aria-invalid=true]")).first().waitFor();
    await pane.getByLabel("Window").click();
    await page.getByRole("option", { name: "tonight" }).click();
    await page.getByRole("button", { name: "Approve ask" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("It cannot be taken back").waitFor();
    await dialog.getByRole("button", { name: "Approve ask" }).click();
    await page.getByRole("status").filter({ hasText: "Decided by you: approved" }).waitFor();
    await page.goto(`${there.url}/inbox?tab=history`);
    await page.getByRole("row", { name: /Release 2.14 to production\?/ }).waitFor();

    // It failed later on: which node and why, its tries, and what it led to.
    await reached(client, id, "error");
    await page.goto(`${there.url}/runs/${id}`);
    await page.getByText("The node smoke failed.").waitFor();
    await page.getByText("checkout answers 502 with 2.14").first().waitFor();
    await page.getByRole("link", { name: "Show smoke" }).click();
    const details = page.getByRole("complementary", { name: "Details of smoke" });
    await details.getByText("Why it failed").waitFor();
    await nodes.getByRole("row", { name: /Skipped announce/ }).waitFor();
    await expectNoSeriousAxe(page);
    await shoot(page, "workflow-run-failed");
    await page.getByRole("tab", { name: "Timeline" }).click();
    const tree = page.getByRole("tree", { name: "Timeline" });
    await tree.getByRole("treeitem", { name: /Try 1 failed/ }).waitFor();
    await tree.getByRole("treeitem", { name: /announce skipped/ }).waitFor();
    await tree.getByRole("treeitem", { name: /canary/ }).waitFor();
    await expectNoSeriousAxe(page);
    await shoot(page, "workflow-timeline");
    await page.getByRole("tab", { name: "Definition" }).click();
    await page.getByRole("link", { name: "Open on canvas" }).first().waitFor();
    await page.getByRole("tab", { name: "Nodes" }).click();

    mend();
    await details.getByRole("button", { name: "Retry from here…" }).click();
    const retry = page.getByRole("dialog");
    await retry.getByText("notes, builds, reviews, sign-off, roll").waitFor();
    await retry.getByText("smoke, announce").waitFor();
    await shoot(page, "workflow-retry");
    await retry.getByRole("button", { name: "Retry from smoke" }).click();
    await page.waitForURL((url) => url.pathname.startsWith("/runs/") && !url.pathname.endsWith(id));
    await page.getByText(/It ran to its end: 7 of 8 nodes done, 5 of them reused, 1 skipped\./).waitFor();
    await nodes.getByRole("row", { name: /Done roll reused/ }).waitFor();
    await shoot(page, "workflow-run-retried");
  });

  test("W4 the list tells workflows from agents, by a filter in its address; what runs in them is not in it", async () => {
    const { there, client } = await room();
    await client.startRun({ body: { agent: "writer", input: "Hello" } });
    const id = await start(client, "release", INPUT, "waiting");
    const { page, context } = await browser.open({ scheme: "dark" });
    await there.signIn(context);
    await page.goto(`${there.url}/runs`);
    const table = page.getByRole("table", { name: "Runs" });
    await table.getByRole("row", { name: /release version 2.14/ }).waitFor();
    await expect.poll(() => table.locator("tbody tr").count(), PATIENT).toBe(2);
    await expectNoSeriousAxe(page);
    await shoot(page, "workflow-runs-list");
    await page.getByRole("radio", { name: "Workflows" }).click();
    await page.waitForURL("**/runs?kind=workflow");
    await expect.poll(() => table.locator("tbody tr").count(), PATIENT).toBe(1);
    const name = table.getByRole("link", { name: "release", exact: true });
    expect(await name.getAttribute("href")).toBe("/workflows/release");
    // A run below is reached from its node, and says what it is in.
    await page.goto(`${there.url}/runs/${id}?node=notes`);
    await page.getByRole("complementary", { name: "Details of notes" }).getByText("Its run").waitFor();
    await expectNoSeriousAxe(page);
    await shoot(page, "workflow-node-dark");
    await page.goto(`${there.url}/runs/${id}.notes.1`);
    await page.getByRole("link", { name: "notes", exact: true }).waitFor();
    await shoot(page, "workflow-child-dark");
    await page.goto(`${there.url}/`);
    await page.getByText("1 approval waiting for somebody").waitFor();
  });

  test("W4 a map of many items is one row that says how far it is; what failed is found among them", async () => {
    const { there, client } = await room();
    const services = Array.from({ length: 230 }, (_, i) => (i === 142 ? "nothing" : `service-${i}`));
    const id = await start(client, "rebuild", { services }, "completed");
    const { page, context } = await browser.open();
    await there.signIn(context);
    await page.goto(`${there.url}/runs/${id}?tab=timeline`);
    const tree = page.getByRole("tree", { name: "Timeline" });
    const map = tree.getByRole("treeitem", { name: /^each 230 items, 1 failed/ });
    await map.click();
    expect(await tree.getByRole("treeitem").count()).toBeLessThan(6);
    await page.getByRole("complementary").getByText("Failed", { exact: true }).click();
    await page.getByRole("button", { name: /Item 142 failed/ }).click();
    const item = tree.getByRole("treeitem", { name: /^Item 142/ });
    await item.waitFor();
    expect(await item.getAttribute("aria-selected")).toBe("true");
    expect(await tree.getByRole("treeitem").count()).toBeLessThan(80);
    await expectNoSeriousAxe(page);
    await shoot(page, "workflow-map");
  });

  test("L8 on a phone a node that waits shows its address, and takes what is sent by hand", async () => {
    const { there, client } = await room();
    const id = await start(client, "intake", {}, "waiting");
    const { page, context } = await browser.open({ size: "phone", scheme: "dark" });
    await there.signIn(context);
    await page.goto(`${there.url}/runs/${id}`);
    await page.getByText("It waits at order.").waitFor();
    await expectNoSeriousAxe(page);
    await shoot(page, "workflow-phone-run", { whole: true });
    await page.getByRole("link", { name: /Send what order waits for/ }).click();
    await page.getByRole("heading", { name: "intake waits at order" }).waitFor();
    await page.getByText(/curl -X POST .*\/api\/v1\/waits\//).waitFor();
    await expectNoSeriousAxe(page);
    await shoot(page, "workflow-phone-wait");
    await page.getByLabel("Order").fill("A-17");
    await page.getByLabel("Amount").fill("30");
    await page.getByRole("button", { name: "Send it to order" }).click();
    await page.getByRole("status").filter({ hasText: "Decided by you" }).waitFor();
    await reached(client, id, "completed");
    await page.goto(`${there.url}/runs/${id}`);
    await page.getByText("It ran to its end: 2 of 2 nodes done.").waitFor();
  });
});
