import type { Locator, Page } from "playwright-core";
import { Agent, defineTool } from "trackside";
import { expect, test, vi } from "vitest";
import { rolesModel, titleIn } from "../../host/test/plans/support/planner.ts";
import { expectNoSeriousAxe } from "./support/axe.ts";
import { type ControlRoomHere, startControlRoom } from "./support/control-room.ts";
import { shoot } from "./support/shoot.ts";
import { browserSuite } from "./support/suite.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
const PATIENT = { timeout: 120_000, interval: 100 };

const DRAFT = {
  steps: [
    { id: "collect", title: "Collect the receipts", detail: "All of May.", depends_on: [], criteria: "" },
    { id: "rates", title: "Look up the exchange rates", detail: "", depends_on: [], criteria: "" },
    {
      id: "total",
      title: "Add them up in euros",
      detail: "",
      depends_on: ["collect", "rates"],
      criteria: "There is one total, in euros.",
    },
    { id: "send", title: "Send the report", detail: "", depends_on: ["total"], criteria: "" },
  ],
};

const send = defineTool({
  name: "send_report",
  description: "Sends the report to the tax office.",
  input: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  execute: () => "sent",
});

/** Plans, judges and works; it asks before it sends anything. */
const bookkeeper = (parts: { readonly isWrong?: () => boolean } = {}) =>
  rolesModel(({ role, text, hasResult }) => {
    if (role === "planner") return JSON.stringify(DRAFT);
    if (role === "judge")
      return parts.isWrong?.()
        ? JSON.stringify({ passed: false, reason: "The total is in dollars." })
        : JSON.stringify({ passed: true, reason: "1,204.50 EUR is one total, in euros." });
    const title = titleIn(text);
    if (title.startsWith("Send") && !hasResult)
      return { calls: [{ tool: "send_report", args: { to: "tax office" } }] };
    if (title.startsWith("Collect")) return "**41 receipts** of May:\n\n- 29 in euros\n- 12 in dollars";
    return title.startsWith("Add") ? "The total is **1,204.50 EUR**." : `Done: ${title}`;
  });

const room = (model = bookkeeper()): Promise<ControlRoomHere> =>
  startControlRoom({
    agents: [new Agent({ name: "in-code", model: bookkeeper() })],
    tools: [send],
    models: { "demo:works": model },
  });

const DEFINITION = {
  name: "bookkeeper",
  model: "demo:works",
  instructions: "Keep the books.",
  tools: ["send_report"],
  hitl_tools: ["send_report"],
};

const steps = (page: Page): Locator => page.locator('ol[aria-label="Steps"] > li');
const titles = (page: Page) =>
  page.evaluate<string[]>(
    `[...document.querySelectorAll("[data-field$=title] input")].map(({ value }) => value)`,
  );

await browserSuite("plans in the control room", (browser) => {
  test("W2 a plan is written, moved about by pointer and by keys, saved, and run step by step", async () => {
    const here = await room();
    const { page, context } = await browser.open();
    await here.signIn(context);
    await (await here.client()).createAgent({ body: { definition: DEFINITION } });
    await page.goto(`${here.url}/agents/bookkeeper`);
    await page.getByRole("button", { name: "Plan", exact: true }).click();
    await page.getByRole("heading", { name: "bookkeeper has no plan yet" }).waitFor();
    await shoot(page, "plan-empty");

    await page.getByRole("button", { name: "Write one" }).click();
    await page.getByLabel("Goal").fill("File the tax report for May");
    const first = ["Add them up", "Collect the receipts", "Look up the rates", "Archive"];
    for (const [i, title] of first.entries()) {
      await page.getByRole("button", { name: "Add a step" }).click();
      await page.locator(`[data-field="steps[${i}].title"] :focus`).waitFor(); // a new step takes the focus
      await page.keyboard.type(title);
    }
    // What is missing is told beside its field, and takes the focus.
    await page.getByRole("button", { name: "Add a step" }).click();
    await page.keyboard.press("ControlOrMeta+s");
    await page.getByText("A step needs a title").waitFor();
    await page.locator('[data-field="steps[4].title"] :focus').waitFor();
    await page.getByRole("button", { name: "Remove step 5" }).click();

    // By keys: the first one goes below the second, and is told.
    await page.getByLabel("Title of step 1").focus();
    await page.keyboard.press("Alt+ArrowDown");
    await page.getByText("Add them up is now step 2 of 4.").waitFor({ state: "attached" });
    expect((await titles(page)).slice(0, 2)).toEqual(["Collect the receipts", "Add them up"]);
    // By pointer: the third one is dragged above it.
    const grip = page.getByRole("button", { name: /^Move Look up the rates/ });
    const from = await grip.boundingBox();
    const to = await page.getByRole("button", { name: /^Move Add them up/ }).boundingBox();
    if (!from || !to) throw new Error("the grips are not to be seen");
    await page.mouse.move(from.x + 8, from.y + 8);
    await page.mouse.down();
    await page.mouse.move(to.x + 8, to.y + 12, { steps: 5 });
    await page.mouse.move(to.x + 8, to.y + 2, { steps: 3 });
    await page.mouse.up();
    expect(await titles(page)).toEqual([
      "Collect the receipts",
      "Look up the rates",
      "Add them up",
      "Archive",
    ]);

    await page.getByRole("button", { name: "Details of Add them up" }).click();
    await page.getByLabel("Verified by").fill("There is one total, in euros.");
    const after = page.getByRole("combobox", { name: "Comes after" });
    for (const name of ["1 Collect the receipts", "2 Look up the rates"]) {
      await after.fill(name.slice(2, 9));
      await page.getByRole("option", { name }).click();
    }
    await page.keyboard.press("Escape");
    await shoot(page, "plan-editor");
    await expectNoSeriousAxe(page);
    await page.getByLabel("Note for the version").fill("As we do it every month.");
    await page.keyboard.press("ControlOrMeta+s");
    await page.getByText("0 of 4 steps done").waitFor();
    const { plan } = await (await here.client()).getPlanBoard({ params: { name: "bookkeeper" } });
    expect(plan).toMatchObject({ version: 1, note: "As we do it every month." });
    expect(plan?.steps[2]).toMatchObject({
      title: "Add them up",
      depends_on: [plan?.steps[0]?.id, plan?.steps[1]?.id],
    });

    await page.getByRole("button", { name: "Run Collect the receipts" }).click();
    await steps(page).nth(0).getByText("Done", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Actions on Archive" }).click();
    await page.getByRole("menuitem", { name: /^Skip/ }).click();
    await page.getByRole("dialog").getByLabel("Why").fill("nothing to keep");
    await page.getByRole("button", { name: "Skip step" }).click();
    await steps(page).nth(3).getByText("nothing to keep").waitFor();
    await page.getByText("2 of 4 steps done").waitFor();
    await page.getByRole("button", { name: "Run all" }).click();
    await page.getByText("4 of 4 steps done").waitFor();
    await steps(page).nth(2).getByRole("button", { expanded: false }).first().click();
    await page.getByText("1,204.50 EUR is one total").waitFor();
    await steps(page).nth(0).getByRole("button", { expanded: false }).first().click();
    await page.getByText("41 receipts").waitFor();
    await shoot(page, "plan-done", { whole: true });
    await expectNoSeriousAxe(page);
    await steps(page).nth(2).getByRole("link", { name: "Run of its verification" }).click();
    await page.waitForURL(/\/runs\/run_/);
  });

  test("W2 a plan is generated, its versions compared, a failed verification retried, and nobody's edit is lost", async () => {
    let isWrong = true;
    const here = await room(bookkeeper({ isWrong: () => isWrong }));
    const { page, context } = await browser.open({ expect: [/409/] });
    await here.signIn(context);
    const client = await here.client();
    await client.createAgent({ body: { definition: DEFINITION } });
    await page.goto(`${here.url}/agents/bookkeeper/plan`);
    await page.getByRole("button", { name: "Generate a plan" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Goal").fill("File the tax report for May");
    await shoot(page, "plan-generate");
    await expectNoSeriousAxe(page);
    await dialog.getByRole("button", { name: "Generate plan" }).click();
    await page.getByText("0 of 4 steps done").waitFor();
    await page.getByText("after 1 and 2").waitFor();

    await page.getByRole("button", { name: "Run all" }).click();
    await steps(page).nth(2).getByText("Its verification failed.").waitFor();
    await page.getByRole("region", { name: "Goal" }).getByText("Failed").waitFor();
    isWrong = false;
    await page.getByRole("button", { name: "Retry Add them up in euros" }).click();
    await steps(page).nth(2).getByText("verified").waitFor();

    // Somebody else saves while this one edits.
    await page.getByRole("button", { name: "Edit plan" }).click();
    await page.getByLabel("Title of step 4").fill("Send the report by post");
    const { plan } = await client.getPlanBoard({ params: { name: "bookkeeper" } });
    if (!plan) throw new Error("there is no plan");
    const content = plan.steps.map(({ id, title, detail, depends_on, verification: { criteria } }) => ({
      id,
      title,
      detail,
      depends_on,
      criteria,
    }));
    await client.savePlan({
      params: { id: plan.id },
      body: { goal: "File the tax report for June", steps: content, version: plan.version },
    });
    await page.getByRole("button", { name: "Save plan" }).click();
    await dialog.getByText(/ada saved version 2 while you edited/).waitFor();
    await shoot(page, "plan-conflict");
    await dialog.getByRole("button", { name: "Save mine over it" }).click();
    await page.getByText("Send the report by post").waitFor();

    await page.getByRole("tab", { name: "Versions" }).click();
    const changes = page.getByRole("figure", { name: "From version 2 to version 3" });
    await changes.getByText("Send the report by post").waitFor();
    await shoot(page, "plan-versions");
    await expectNoSeriousAxe(page);
    await page.getByRole("button", { name: "Use again: version 1" }).click();
    await expect.poll(() => titles(page), PATIENT).toContain("Send the report");
    await page.getByRole("button", { name: "Discard" }).click();
  });

  test("W1 an agent works by itself: it is seen who switched it on, what it waits for, and who stopped it", async () => {
    const here = await room();
    const { page, context } = await browser.open();
    await here.signIn(context);
    const client = await here.client();
    await client.createAgent({ body: { definition: DEFINITION } });
    const params = { name: "bookkeeper" };
    const goal = "File the tax report for May";
    const { id } = await client.createPlan({ params, body: { goal, steps: DRAFT.steps } });
    await page.goto(`${here.url}/agents/bookkeeper/plan`);
    await page.getByText("Nobody works on it now.").waitFor();
    await page.getByRole("switch", { name: "Works by itself" }).click();
    await page.getByRole("button", { name: "Switch it on" }).click();
    await page.getByText(/^On by ada/).waitFor();
    await page.getByRole("region", { name: "Goal" }).getByText("Waiting for you").waitFor();
    await steps(page).nth(3).getByText("its run waits for an approval").waitFor();
    await shoot(page, "plan-waiting");
    await expectNoSeriousAxe(page);

    await page.getByRole("button", { name: "Stop", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Why").fill("the office is closed");
    await dialog.getByRole("button", { name: "Stop", exact: true }).click();
    await page
      .getByText(/by ada .*: the office is closed/)
      .first()
      .waitFor();
    await steps(page).nth(3).getByText("Pending").waitFor();
    await page.getByText(/Stopped until somebody runs the plan again/).waitFor();
    await shoot(page, "plan-stopped");
    expect((await client.listApprovals({})).items).toEqual([]);

    await page.getByRole("button", { name: "Run all" }).click();
    await vi.waitFor(async () => {
      const [approval] = (await client.listApprovals({})).items;
      await client.decideApproval({ params: { id: approval?.id ?? "" }, body: { choice: "approve" } });
    }, PATIENT);
    await page.getByText("4 of 4 steps done").waitFor();
    expect((await client.getPlan({ params: { id } })).state).toBe("completed");
  });

  test("W2 on a phone, for somebody who may only look: everything is there, nothing can be done", async () => {
    const here = await room();
    const { page, context } = await browser.open({ size: "phone", scheme: "dark" });
    await here.signIn(context, "viewer");
    const client = await here.client();
    await client.createAgent({ body: { definition: DEFINITION } });
    const params = { name: "bookkeeper" };
    const { id } = await client.createPlan({
      params,
      body: { goal: "File the tax report for May", steps: DRAFT.steps },
    });
    await client.runPlanStep({ params: { id, step: "collect" }, body: {} });
    await page.goto(`${here.url}/agents/bookkeeper/plan?step=collect`);
    await page.getByText("41 receipts").waitFor();
    await shoot(page, "plan-phone-viewer", { whole: true });
    await expectNoSeriousAxe(page);
    for (const name of ["Edit plan", "Generate", "Run all", "Run Look up the exchange rates"])
      expect(await page.getByRole("button", { name }).isDisabled()).toBe(true);
    expect(await page.getByRole("switch", { name: "Works by itself" }).isDisabled()).toBe(true);
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);

    const { page: other, context: operator } = await browser.open({ size: "phone", expect: [/404/] });
    await here.signIn(operator, "operator");
    await other.goto(`${here.url}/agents/bookkeeper/plan`);
    await other.getByRole("button", { name: "Edit plan" }).click();
    await other.getByRole("button", { name: "Details of Add them up in euros" }).click();
    await other.getByLabel("Verified by").waitFor();
    await shoot(other, "plan-phone-editor");
    await expectNoSeriousAxe(other);
    expect(await other.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
    await other.getByRole("button", { name: "Close" }).click();

    await other.goto(`${here.url}/agents/in-code/plan`);
    await other.getByRole("heading", { name: "in-code has no plan yet" }).waitFor();
    await other.goto(`${here.url}/agents/nobody/plan`);
    await other.getByText("The plan of nobody not found").waitFor();
  });
});
