import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { Agent, ask, defineRail, defineTool } from "trackside";
import { type ScriptedRequest, scriptedModel } from "trackside/testing";
import { expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../scripts/testing/temporary-folder.ts";
import { expectNoSeriousAxe } from "./support/axe.ts";
import { startControlRoom } from "./support/control-room.ts";
import { downloadText } from "./support/download.ts";
import { shoot } from "./support/shoot.ts";
import { browserSuite } from "./support/suite.ts";

vi.setConfig({ testTimeout: 300_000 }); // a browser and a server, when they get a turn
const PATIENT = { timeout: 120_000, interval: 100 };
const PLAN = ["Measure the lab first", "Ask two helpers about both services", "Deploy checkout 2.14"];

/** What the planner, the agent or one of its helpers says next. */
function reply({ prompt }: ScriptedRequest) {
  const system = prompt.flatMap((message) => (message.role === "system" ? [message.content] : [])).join("\n");
  if (system.includes("You are planning")) return PLAN.map((step, at) => `${at + 1}. ${step}`).join("\n");
  const task = /Ask after (\w+)/.exec(JSON.stringify(prompt.filter(({ role }) => role === "user")));
  if (task) return `The ${task[1]} service is healthy.`;
  const called = prompt.flatMap((message) =>
    message.role === "assistant"
      ? message.content.flatMap((part) => (part.type === "tool-call" ? [part.toolName] : []))
      : [],
  );
  if (called.includes("deploy_service")) return "Checkout 2.14 is **deployed**.";
  if (called.includes("spawn_parallel"))
    return {
      text: "Both are well, so I deploy.",
      calls: [
        { tool: "deploy_service", args: { service: "checkout", version: "2.14", why: "both are well" } },
      ],
    };
  if (called.includes("mcp__lab__measure"))
    return {
      text: "Now the helpers.",
      calls: [
        {
          tool: "spawn_parallel",
          args: {
            jobs: ["checkout", "payments"].map((name) => ({ task: `Ask after ${name}`, tool_names: [] })),
          },
        },
      ],
    };
  return { text: "I measure.", calls: [{ tool: "mcp__lab__measure", args: {} }] };
}

/** An agent with everything a run can have, and the hand on the progress of its server. */
function release() {
  const steps = join(temporaryFolder("lab"), "steps");
  const ran: unknown[] = [];
  const deploy = defineTool({
    name: "deploy_service",
    description: "Deploys a version of a service.",
    input: {
      type: "object",
      properties: { service: { type: "string" }, version: { type: "string" } },
      required: ["service", "version"],
      additionalProperties: false,
    },
    effect: "once",
    execute: (args) => {
      ran.push(args);
      return { ...args, instances: 6 };
    },
  });
  const nightWatch = defineRail({ name: "night-watch", on: ["PRE_TOOL_CALL"], asks: true }, (ctx) =>
    ctx.inputs.toolName === "deploy_service" ? ask("it is night in the shop") : undefined,
  );
  const agent = new Agent({
    name: "release",
    model: scriptedModel([reply], { loop: true }),
    planningEnabled: true,
    tools: [deploy],
    hitlTools: ["deploy_service"],
    injectedToolArgs: { why: "One sentence on why this call is made." },
    allowParallelSubagents: true,
    maxParallelSubagents: 2,
    rails: [nightWatch],
    mcpServers: [
      {
        name: "lab",
        command: process.execPath,
        args: [join(import.meta.dirname, "lab-server.ts"), "lab", steps],
      },
    ],
  });
  return { agent, ran, goTo: (step: number) => writeFileSync(steps, String(step)) };
}

const call = (page: Page, tool: string) => page.getByRole("region", { name: `Call of ${tool}` });

await browserSuite("a whole run", (browser) => {
  test("plan, MCP progress, two sub-agents and a gated tool are seen as they happen, and afterwards on the run's page", async () => {
    const { agent, ran, goTo } = release();
    const room = await startControlRoom({ agents: [agent] });
    const { page, context } = await browser.open({
      context: { permissions: ["clipboard-read", "clipboard-write"], acceptDownloads: true },
    });
    await room.signIn(context);
    await page.goto(`${room.url}/playground/release`);
    await page.getByLabel("Message to release").fill("Release checkout 2.14");
    await page.getByRole("button", { name: "Send" }).click();

    const aside = page.getByRole("complementary", { name: "Plan, tokens and cost" });
    for (const step of PLAN) await aside.getByText(step).waitFor();
    const transcript = page.getByRole("log", { name: "Transcript" });
    const bar = call(page, "mcp__lab__measure").getByRole("progressbar");
    goTo(1);
    await expect.poll(() => bar.getAttribute("aria-valuenow"), PATIENT).toBe("25");
    await call(page, "mcp__lab__measure").getByText("warming up").waitFor();
    goTo(3);
    await expect.poll(() => bar.getAttribute("aria-valuenow"), PATIENT).toBe("75");
    await call(page, "mcp__lab__measure").getByText("second half").waitFor();
    await shoot(page, "whole-run-progress");
    goTo(5);

    const lanes = call(page, "spawn_parallel");
    for (const [at, name] of ["checkout", "payments"].entries()) {
      await lanes.getByText(`Ask after ${name}`).first().waitFor();
      await lanes.getByRole("listitem").nth(at).getByText(`The ${name} service is healthy.`).waitFor();
    }
    const question = page.getByRole("region", { name: "Decision on deploy_service" });
    await question.getByText("it is night in the shop").waitFor();
    await call(page, "deploy_service").getByText("both are well").waitFor();
    await expectNoSeriousAxe(page);
    await shoot(page, "whole-run-approval");
    expect(ran).toEqual([]);
    await question.getByRole("button", { name: "Approve deploy_service" }).click();
    await transcript.getByText("Checkout 2.14 is deployed.").waitFor();
    await call(page, "deploy_service").getByText("approved").first().waitFor();
    expect(ran).toEqual([{ service: "checkout", version: "2.14" }]);
    // The planner's words are in the panel, and only there.
    const said = (await transcript.textContent()) ?? "";
    for (const step of PLAN) expect(said).not.toContain(step);
    await shoot(page, "whole-run-done");

    await aside.getByRole("link", { name: "Open the run" }).click();
    await page.getByRole("tree", { name: "Timeline" }).waitFor();
    const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    const row = (name: string | RegExp) => page.getByRole("treeitem", { name }).first();
    await row(/night-watch.*it is night in the shop/).waitFor();
    await row(/deploy_service/).click();
    const detail = page.getByRole("complementary", { name: "Details of deploy_service" });
    await detail.getByText("night-watch").waitFor();
    await detail.getByText("Injected arguments").first().waitFor();
    await detail.getByText("both are well").first().waitFor();
    expect(await detail.getByRole("link", { name: "approved" }).getAttribute("href")).toMatch(
      /^\/inbox\/\w+/,
    );
    await expectNoSeriousAxe(page);
    await shoot(page, "whole-run-timeline");
    await row(/mcp__lab__measure/).click();
    const artifact = page
      .getByRole("complementary", { name: "Details of mcp__lab__measure" })
      .locator("a[download]")
      .first();
    const file = await Promise.all([page.waitForEvent("download"), artifact.click()]);
    expect(await downloadText(file[0])).toContain("measured measured");

    const menu = page.getByRole("button", { name: "Copy and download" });
    await menu.click();
    await page.getByRole("menuitem", { name: "Copy as curl" }).click();
    await page.getByText("The command is copied").waitFor();
    const command = await page.evaluate<string>("navigator.clipboard.readText()");
    expect(command).toContain(`'${room.url}/api/v1/runs/${id}/events`);
    await menu.click();
    const [export_] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: "Download JSON" }).click(),
    ]);
    expect(export_.suggestedFilename()).toBe(`${id}.json`);
    expect(JSON.stringify(JSON.parse(await downloadText(export_)))).toContain("both are well");

    await page.getByRole("tab", { name: "Requests" }).click();
    await page.getByText("System prompt", { exact: true }).first().waitFor();
    await page.getByText("Against the one before").waitFor();
    await shoot(page, "whole-run-requests");
    await page.getByRole("tab", { name: "Transcript" }).click();
    await page.getByText("Checkout 2.14 is deployed.").first().waitFor();
    // A link to any of it opens the same.
    await page.reload();
    await page.getByRole("tab", { name: "Transcript", selected: true }).waitFor();
    await page.getByText("Checkout 2.14 is deployed.").first().waitFor();
  });
});
