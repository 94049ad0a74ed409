import { Agent, defineTool } from "trackside";
import { type ScriptedReply, scriptedModel } from "trackside/testing";
import { expect, test, vi } from "vitest";
import { expectNoSeriousAxe } from "./support/axe.ts";
import { type ControlRoomHere, startControlRoom } from "./support/control-room.ts";
import { shoot } from "./support/shoot.ts";
import { browserSuite } from "./support/suite.ts";

vi.setConfig({ testTimeout: 300_000 }); // a browser gets to it when the machine does

const deploy = defineTool({
  name: "deploy_service",
  description: "Deploys a service.",
  input: {
    type: "object",
    properties: { service: { type: "string" } },
    required: ["service"],
    additionalProperties: false,
  },
  effect: "once",
  execute: (args) => ({ deployed: args["service"] ?? null }),
});

const CALL: ScriptedReply = {
  text: "I deploy it.",
  calls: [{ tool: "deploy_service", args: { service: "checkout" } }],
};

/** A releaser that asks before it deploys, a clerk that answers at once, one whose model is away. */
async function room(): Promise<ControlRoomHere> {
  return startControlRoom({
    agents: [
      new Agent({
        name: "releaser",
        model: scriptedModel([CALL, "It is deployed.", CALL, "It is deployed."]),
        tools: [deploy],
        hitlTools: ["deploy_service"],
      }),
      new Agent({ name: "clerk", model: scriptedModel(Array<string>(9).fill("Noted.")) }),
      new Agent({
        name: "unlucky",
        model: scriptedModel(Array<ScriptedReply>(20).fill({ error: new Error("no such model here") })),
      }),
    ] as never, // agents of different tools in one list
  });
}

async function started(there: ControlRoomHere, agent: string, input: string, until: string): Promise<string> {
  const client = await there.client();
  const { run_id: id } = await client.startRun({ body: { agent, input } });
  await vi.waitFor(async () => expect((await client.getRun({ params: { id } })).status).toBe(until), {
    timeout: 120_000,
  });
  return id;
}

await browserSuite("the runs of the control room", (browser) => {
  test("an empty list says what a run is; filters live in the URL, and new runs wait until they are asked for", async () => {
    const there = await room();
    const { page, context } = await browser.open();
    await there.signIn(context);
    await page.goto(`${there.url}/runs`);
    await page.getByRole("heading", { name: "No runs yet" }).waitFor();
    await page.getByText("$TRACKSIDE_TOKEN").waitFor();
    await expectNoSeriousAxe(page);

    await started(there, "clerk", "Note the weather.\nAnd the time.", "completed");
    await started(there, "unlucky", "Try", "error");
    await page.reload();
    await page.getByText("Note the weather.").waitFor();
    await expectNoSeriousAxe(page);
    await page.getByRole("button", { name: "Failed" }).click();
    await page.waitForURL("**/runs?status=error");
    await expect.poll(() => page.locator("tbody tr").count(), { timeout: 60_000 }).toBe(1);
    await page.goBack();

    await page.goto(`${there.url}/runs?agent=clerk`);
    await page.getByText("Note the weather.").waitFor();
    await page.locator("tbody tr").first().hover();
    await started(there, "clerk", "Note the tide.", "completed");
    const fresh = page.getByRole("button", { name: "1 new run" });
    await fresh.waitFor();
    expect(await page.locator("tbody tr").count()).toBe(1);
    await fresh.click();
    await page.getByText("Note the tide.").waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/runs/run_*");
    await page.getByText("It answered after 1 step.").waitFor();
  });

  test("a run that waits links to its approval, goes on before one's eyes, and its rows open with a link", async () => {
    const there = await room();
    const { page, context } = await browser.open();
    await there.signIn(context);
    const id = await started(there, "releaser", "Release checkout", "waiting");
    await page.goto(`${there.url}/runs/${id}`);
    const decide = page.getByRole("link", { name: /Decide deploy_service/ });
    await decide.waitFor();
    const approval = decodeURIComponent((await decide.getAttribute("href"))?.split("/").at(-1) ?? "");
    await expectNoSeriousAxe(page);

    const client = await there.client();
    await client.decideApproval({ params: { id: approval }, body: { choice: "approve" } });
    await page.getByText("It answered after 2 steps.").waitFor();
    await page.getByRole("treeitem", { name: /approved by/ }).waitFor();

    await page.getByRole("treeitem", { name: /^deploy_service/ }).click();
    await page.waitForURL(/event=\d+/);
    const details = page.getByRole("complementary", { name: "Details of deploy_service" });
    await details.getByText("Result's metadata").waitFor();
    await details.getByRole("link", { name: "approved" }).waitFor();
    await expectNoSeriousAxe(page);
    await shoot(page, "runs-tool");
    await page.reload();
    await details.getByText("Result's metadata").waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => new URL(page.url()).search, { timeout: 60_000 }).toBe("");

    // From the first row into the step, which folds and unfolds.
    const rows = page.getByRole("treeitem");
    const all = await rows.count();
    await page.getByRole("tree").focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("j");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => rows.count(), { timeout: 60_000 }).toBeLessThan(all);
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => rows.count(), { timeout: 60_000 }).toBe(all);
  });

  test("every tab has its address, and a failed run says why and is retried from a step", async () => {
    const there = await room();
    const { page, context } = await browser.open({
      context: { permissions: ["clipboard-read", "clipboard-write"] },
    });
    await there.signIn(context);
    const done = await started(there, "clerk", "Note the weather.", "completed");
    await page.goto(`${there.url}/runs/${done}?tab=transcript`);
    await page.getByLabel("Transcript").last().getByText("Noted.").waitFor();
    await page.getByRole("tab", { name: "Definition" }).click();
    await page.waitForURL("**tab=definition");
    await page.getByText("max_steps").waitFor();
    await expectNoSeriousAxe(page);
    await page.getByRole("tab", { name: "JSON" }).click();
    await page.getByText("sub_agents").waitFor();

    await page.getByRole("button", { name: "Copy and download" }).click();
    await page.getByRole("menuitem", { name: "Copy as curl" }).click();
    const copied = () => page.evaluate<string>("navigator.clipboard.readText()");
    await expect
      .poll(copied, { timeout: 60_000 })
      .toContain(`$TRACKSIDE_TOKEN" '${there.url}/api/v1/runs/${done}/export'`);

    const failed = await started(there, "unlucky", "Try", "error");
    await page.goto(`${there.url}/runs/${failed}`);
    await page.getByText("no such model here").first().waitFor();
    await expectNoSeriousAxe(page);
    await page.getByRole("button", { name: "Retry from step…" }).click();
    await page.getByRole("button", { name: "Retry from step 1" }).click();
    await page.waitForURL((url) => url.pathname.startsWith("/runs/") && !url.pathname.endsWith(failed));
    await page.getByText("Retried from").waitFor();
  });

  test("on a phone a run is stopped with a thumb; a viewer sees everything and may stop nothing", async () => {
    const there = await room();
    const id = await started(there, "releaser", "Release checkout", "waiting");
    const phone = await browser.open({ size: "phone", scheme: "dark" });
    await there.signIn(phone.context);
    await phone.page.goto(`${there.url}/runs/${id}`);
    await phone.page.getByRole("link", { name: /Decide deploy_service/ }).waitFor();
    await expectNoSeriousAxe(phone.page);
    const viewer = await browser.open();
    await there.signIn(viewer.context, "viewer");
    await viewer.page.goto(`${there.url}/runs/${id}`);
    await expect
      .poll(() => viewer.page.getByRole("button", { name: "Stop" }).isDisabled(), { timeout: 60_000 })
      .toBe(true);

    await phone.page.getByRole("button", { name: "Stop" }).click();
    await phone.page.getByLabel("Reason").fill("wrong service");
    await phone.page.getByRole("button", { name: "Stop the run" }).click();
    await phone.page.getByText("Somebody stopped it.").waitFor();
    await phone.page.getByText("wrong service").first().waitFor();
    await viewer.page.getByText("Somebody stopped it.").waitFor();
  });
});
