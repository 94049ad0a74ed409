import type { Page } from "playwright-core";
import { Agent, defineTool } from "trackside";
import { scriptedModel } from "trackside/testing";
import { expect, test, vi } from "vitest";
import { startControlRoom } from "./support/control-room.ts";
import { browserSuite } from "./support/suite.ts";

vi.setConfig({ testTimeout: 300_000 }); // a browser and a server, when they get a turn
const PATIENT = { timeout: 120_000, interval: 50 };

/** An agent that restarts a service once somebody allows it, and how often it did. */
function restarting() {
  const ran: string[] = [];
  const restart = defineTool({
    name: "restart_service",
    description: "Restarts a service.",
    input: { type: "object", properties: { service: { type: "string" } }, required: ["service"] },
    effect: "once",
    execute: ({ service }) => {
      ran.push(String(service));
      return "restarted";
    },
  });
  const model = scriptedModel([
    { text: "I restart it.", calls: [{ tool: "restart_service", args: { service: "payments" } }] },
    "Over.",
  ]);
  return {
    ran,
    agent: new Agent({ name: "keeper", model, tools: [restart], hitlTools: ["restart_service"] }),
  };
}

/** The answers to the decisions that a page sends, held back until all of them are on their way. */
async function holdDecisions(pages: readonly Page[]): Promise<number[]> {
  const answers: number[] = [];
  let arrived = 0;
  let release = () => {};
  const all = new Promise<void>((resolve) => {
    release = resolve;
  });
  for (const page of pages) {
    page.on("response", (response) => {
      if (response.url().endsWith("/decide")) answers.push(response.status());
    });
    await page.route(/\/decide$/, async (route) => {
      arrived += 1;
      if (arrived === pages.length) release();
      await all;
      await route.continue();
    });
  }
  return answers;
}

await browserSuite("one approval in several tabs", (browser) => {
  test("L4 two people decide at once: one wins, the other hears who, a third sees it by itself, the tool runs once", async () => {
    const { agent, ran } = restarting();
    const room = await startControlRoom({ agents: [agent] });
    const client = await room.client();
    const { run_id } = await client.startRun({ body: { agent: "keeper", input: "Restart payments" } });
    const id = await vi.waitFor(async () => {
      const [approval] = (await client.listApprovals({})).items;
      if (approval === undefined) throw new Error("nobody is asked yet");
      return approval.id;
    }, PATIENT);
    const tabs = {
      ada: await browser.open({ expect: [/409/] }),
      "approver-of-the-test": await browser.open({ expect: [/409/] }),
      "viewer-of-the-test": await browser.open(),
    };
    await room.signIn(tabs.ada.context, "admin");
    await room.signIn(tabs["approver-of-the-test"].context, "approver");
    await room.signIn(tabs["viewer-of-the-test"].context, "viewer");
    for (const { page } of Object.values(tabs)) {
      await page.goto(`${room.url}/inbox/${id}`);
      await page.getByRole("heading", { name: "What led here" }).waitFor();
    }
    const deciders = { ada: tabs.ada.page, "approver-of-the-test": tabs["approver-of-the-test"].page };
    const answers = await holdDecisions(Object.values(deciders));
    const reject = deciders["approver-of-the-test"];
    await deciders.ada.getByRole("button", { name: "Approve restart_service" }).click();
    await reject.getByRole("button", { name: "Reject restart_service" }).click();
    await reject.getByLabel("Reason").fill("not at night");
    await reject.keyboard.press("Enter");

    // Whoever it is: exactly one of the two, for everybody the same one.
    await expect.poll(() => answers.toSorted(), PATIENT).toEqual([200, 409]);
    const { state, decision } = await client.getApproval({ params: { id } });
    const winner = decision?.by === "ada" ? "ada" : "approver-of-the-test";
    const loser = winner === "ada" ? "approver-of-the-test" : "ada";
    expect({ by: decision?.by, state }).toEqual({
      by: winner,
      state: winner === "ada" ? "approved" : "rejected",
    });
    await deciders[winner]
      .getByRole("status")
      .filter({ hasText: `Decided by you: ${state}` })
      .waitFor();
    const name = `${winner.slice(0, 1).toUpperCase()}${winner.slice(1)}`;
    await deciders[loser].getByText(`${name} decided first: ${state}. Your decision was not used.`).waitFor();
    for (const page of [deciders[loser], tabs["viewer-of-the-test"].page])
      await page
        .getByRole("status")
        .filter({ hasText: `Decided by ${winner}: ${state}` })
        .waitFor();

    await vi.waitFor(async () => {
      expect((await client.getRun({ params: { id: run_id } })).status).toBe("completed");
    }, PATIENT);
    expect(ran).toEqual(winner === "ada" ? ["payments"] : []);
  });

  test("L4 X10 a second press, and a second tab of the same person, count once", async () => {
    const { agent, ran } = restarting();
    const room = await startControlRoom({ agents: [agent] });
    const client = await room.client();
    const { run_id } = await client.startRun({ body: { agent: "keeper", input: "Restart payments" } });
    await vi.waitFor(async () => {
      expect((await client.getRun({ params: { id: run_id } })).pending_approvals).toHaveLength(1);
    }, PATIENT);
    const one = await browser.open({ expect: [/409/] });
    await room.signIn(one.context);
    const two = await browser.openBeside(one);
    for (const { page } of [one, two]) {
      await page.goto(`${room.url}/inbox`);
      await page.getByRole("heading", { name: "What led here" }).waitFor();
    }
    await holdDecisions([one.page, two.page]);
    await one.page.keyboard.press("a");
    await one.page.keyboard.press("a");
    await two.page.keyboard.press("a");
    for (const { page } of [one, two])
      await page.getByRole("status").filter({ hasText: "Decided by you: approved" }).waitFor();
    await vi.waitFor(async () => {
      expect((await client.getRun({ params: { id: run_id } })).status).toBe("completed");
    }, PATIENT);
    expect(ran).toEqual(["payments"]);
  });
});
