import { builtInHooks, builtInRails } from "@trackside/rails";
import type { Page } from "playwright-core";
import { Agent, defineTool } from "trackside";
import { scriptedModel } from "trackside/testing";
import { expect, test, vi } from "vitest";
import { namedTool, SEED_EXAMPLE } from "../../core/test/support/definitions.ts";
import { expectNoSeriousAxe } from "./support/axe.ts";
import { type ControlRoomHere, startControlRoom } from "./support/control-room.ts";
import { downloadText } from "./support/download.ts";
import { shoot } from "./support/shoot.ts";
import { browserSuite } from "./support/suite.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const SCRIPTED = "demo:scripted";

function room(): Promise<ControlRoomHere> {
  return startControlRoom({
    agents: [new Agent({ name: "in-code", model: scriptedModel(["done"]) })],
    tools: [
      namedTool("deploy_service"),
      namedTool("rotate_credentials"),
      defineTool({
        name: "read_file",
        description: "Reads a file.",
        input: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
        execute: () => "text",
      }),
    ],
    rails: builtInRails,
    hooks: builtInHooks,
    models: { [SCRIPTED]: scriptedModel(["done"]) },
  });
}

const CLERK = {
  name: "clerk",
  model: SCRIPTED,
  instructions: "Be careful.",
  tools: ["read_file", "deploy_service"],
  hitl_tools: ["deploy_service"],
  rails: [
    { use: "secrets" },
    { use: "call-limits", options: { tools: { deploy_service: 2 } }, mode: "shadow" },
  ],
};

const section = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

await browserSuite("agents in the control room", (browser) => {
  test("A1 the agent of seed 002's example is made in the editor, and its export is that example", async () => {
    const here = await room();
    const { page, context } = await browser.open();
    await here.signIn(context);
    await page.goto(`${here.url}/agents`);
    await page.getByRole("button", { name: "New agent" }).click();
    const seed = JSON.parse(SEED_EXAMPLE);

    const basics = section(page, "Basics");
    await basics.getByLabel("Name").fill(seed.name);
    await basics.getByRole("combobox", { name: "Model" }).fill(seed.model);
    await page.keyboard.press("Escape");
    await basics.getByLabel("Instructions").fill(seed.instructions);
    await typeNumber(page, "Most steps", seed.max_steps);
    await typeNumber(page, "Temperature", seed.temperature);
    await typeNumber(page, "Most tokens", seed.max_tokens);

    const planning = section(page, "Planning");
    await planning.getByRole("switch", { name: "Plan before acting" }).click();
    await planning.getByRole("combobox", { name: "Planner's model" }).fill(seed.planning_model);
    await page.keyboard.press("Escape");
    const plannerPrompt = planning.getByLabel("Planner's instructions");
    await vi.waitFor(async () =>
      expect(await plannerPrompt.getAttribute("placeholder")).toContain("You are planning, not acting"),
    );
    await plannerPrompt.fill(seed.planning_instructions);

    const gated = section(page, "Tools and approvals").getByRole("combobox", { name: "Gated tools" });
    for (const tool of seed.hitl_tools) {
      await gated.fill(tool);
      await page.getByRole("option", { name: tool }).click();
    }
    // Twice: the first closes the list, and no further one may ungate what was chosen.
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");

    const injected = section(page, "Injected arguments");
    for (const [at, [name, description]] of Object.entries<string>(seed.injected_tool_args).entries()) {
      await injected.getByRole("button", { name: "Add an argument" }).click();
      await injected.getByLabel(`Argument ${at + 1}`).fill(name);
      await injected.getByLabel(`Description ${at + 1}`).fill(description);
    }
    // What the model will see follows what is typed (T3).
    await injected.getByRole("figure").getByText('"run_origin"').first().waitFor();

    const children = section(page, "Sub-agents");
    await children.getByRole("switch", { name: "Parallel sub-agents" }).click();
    await children.getByRole("slider").focus();
    await page.keyboard.press("ArrowRight");

    const budget = section(page, "Budget and context");
    await budget.getByRole("radio", { name: "Limit" }).click();
    await budget.getByRole("slider").focus();
    for (let at = 80; at > 70; at -= 1) await page.keyboard.press("ArrowLeft");
    await shoot(page, "agents-seed-form");

    await page.getByLabel("Note for the version").fill("As the seed has it.");
    await page.keyboard.press("ControlOrMeta+s");
    await page.waitForURL(`${here.url}/agents/${seed.name}`);
    await page.getByText("Everything is saved").waitFor();

    await page.getByRole("button", { name: `Actions on ${seed.name}` }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: "Export as JSON" }).click(),
    ]);
    const exported = await downloadText(download);
    expect(JSON.stringify(JSON.parse(exported))).toBe(JSON.stringify(seed));
    const { items } = await (await here.client()).listVersions({ params: { name: seed.name } });
    expect(items.map(({ note }) => note)).toEqual(["As the seed has it."]);
  });

  test("A3 what is wrong stands beside its field, an orphan blocks the save by name, JSON goes both ways", async () => {
    const here = await room();
    const { page, context } = await browser.open({ expect: [/422/] }); // the preview of what cannot be bound
    await here.signIn(context);
    await (await here.client()).createAgent({ body: { definition: CLERK } });
    await page.goto(`${here.url}/agents/clerk`);
    await page.getByRole("button", { name: "Remove deploy_service" }).first().click();
    const problems = page.getByRole("region", { name: "Problems" });
    await problems.getByText("deploy_service").waitFor();
    await page.getByRole("button", { name: "Save agent" }).click();
    await problems.getByRole("button", { name: "hitl_tools[0]" }).click();
    await page.locator('[data-field="hitl_tools"] :focus').waitFor();
    expect((await (await here.client()).getAgent({ params: { name: "clerk" } })).version).toBe(1);
    await expectNoSeriousAxe(page);

    // The page scrolls inside its frame, and the frame not at all.
    expect(await page.evaluate("document.documentElement.scrollHeight - innerHeight")).toBe(0);

    await page.getByRole("tab", { name: "JSON" }).click();
    const text = page.getByLabel("Definition as JSON");
    const definition = JSON.parse(await text.inputValue());
    expect(definition.tools).toEqual(["read_file"]);
    await text.fill(JSON.stringify({ ...definition, hitl_tools: [], temprature: 1 }));
    await problems.getByText(/did you mean/).waitFor();
    await text.fill("{");
    await page
      .getByText(/this is no JSON/)
      .first()
      .waitFor();
    await text.fill(JSON.stringify({ ...definition, hitl_tools: [], max_steps: 7 }));
    await page.getByRole("tab", { name: "Form" }).click();
    await expect.poll(() => section(page, "Basics").getByLabel("Most steps").inputValue()).toBe("7");
    await page.getByRole("button", { name: "Save agent" }).click();
    await page.getByText("Everything is saved").waitFor();
    const saved = await (await here.client()).getAgent({ params: { name: "clerk" } });
    expect(saved.definition).toMatchObject({ max_steps: 7, hitl_tools: [], tools: ["read_file"] });
  });

  test("X10 two people save: nobody's work is lost, and who leaves is asked", async () => {
    const here = await room();
    const { page, context } = await browser.open({ expect: [/409/] });
    await here.signIn(context);
    const client = await here.client();
    await client.createAgent({ body: { definition: CLERK } });
    await page.goto(`${here.url}/agents/clerk`);
    await page.getByLabel("Instructions", { exact: true }).fill("Mine.");
    await client.saveAgent({
      params: { name: "clerk" },
      body: { definition: { ...CLERK, instructions: "Theirs." }, version: 1, note: "theirs" },
    });
    await page.getByRole("button", { name: "Save agent" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/ada saved version 2 while you edited/).waitFor();
    await dialog.getByText("Theirs.").waitFor();
    await shoot(page, "agents-conflict");
    await expectNoSeriousAxe(page);
    await dialog.getByRole("button", { name: "Load theirs" }).click();
    await expect.poll(() => page.getByLabel("Instructions", { exact: true }).inputValue()).toBe("Theirs.");
    await page.getByRole("button", { name: "Bring mine back" }).click();
    await expect.poll(() => page.getByLabel("Instructions", { exact: true }).inputValue()).toBe("Mine.");

    await page.getByRole("link", { name: "Runs", exact: true }).first().click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    expect(page.url()).toBe(`${here.url}/agents/clerk`);
    await page.getByRole("button", { name: "Save agent" }).click();
    await page.getByText("Everything is saved").waitFor();

    await page.goto(`${here.url}/agents/clerk/versions`);
    await page.getByRole("table", { name: "Versions" }).getByText("theirs").waitFor();
    await shoot(page, "agents-versions");
    await expectNoSeriousAxe(page);
    await page.getByRole("row", { name: /^v1/ }).getByRole("button", { name: "Restore" }).click();
    await page.getByRole("button", { name: "Restore version 1" }).click();
    await page.getByText("from v1").waitFor();
    const restored = await client.getAgent({ params: { name: "clerk" } });
    expect(restored).toMatchObject({ version: 4, definition: { instructions: "Be careful." } });
  });

  test("the list finds, imports, clones and deletes; agents in code are read-only and say where they are", async () => {
    const here = await room();
    const { page, context } = await browser.open({ expect: [/422|400/] });
    await here.signIn(context);
    await page.goto(`${here.url}/agents`);
    await page.getByRole("link", { name: "in-code" }).waitFor();
    await page.getByRole("button", { name: "Import" }).click();
    await page.getByLabel("Definition").fill(JSON.stringify({ ...CLERK, max_steps: 0, tols: [] }));
    await page.getByRole("button", { name: "Import agent" }).click();
    await page.getByRole("alert").getByText("max_steps").first().waitFor();
    await page.getByRole("alert").getByText("tols").first().waitFor();
    await shoot(page, "agents-import");
    await page.getByLabel("Definition").fill(JSON.stringify(CLERK));
    await page.getByRole("button", { name: "Import agent" }).click();
    await page.waitForURL(`${here.url}/agents/clerk`);

    await page.getByRole("button", { name: "Actions on clerk" }).click();
    await page.getByRole("menuitem", { name: "Clone" }).click();
    await page.getByLabel("Name of the copy").fill("clerk-2");
    await page.getByRole("button", { name: "Clone agent" }).click();
    await page.waitForURL(`${here.url}/agents/clerk-2`);
    await page.getByRole("button", { name: "Actions on clerk-2" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByText(/Its runs and conversations stay/).waitFor();
    await page.getByRole("button", { name: "Delete clerk-2" }).click();
    await page.waitForURL(`${here.url}/agents`);
    await page.keyboard.press("/");
    await page.keyboard.type("cler");
    await expect.poll(() => page.getByRole("table", { name: "Agents" }).getByRole("row").count()).toBe(2);
    await shoot(page, "agents-list");
    await expectNoSeriousAxe(page);

    await page.goto(`${here.url}/agents/in-code`);
    await page.getByText("trackside.config.ts").waitFor();
    expect(await page.getByLabel("Instructions", { exact: true }).isDisabled()).toBe(true);
    expect(await page.getByRole("button", { name: "Save agent" }).count()).toBe(0);
    await expectNoSeriousAxe(page);
  });

  test("settings: a key goes in and does not come out, links and tokens are shown once, the chain is checked", async () => {
    const here = await room();
    const { page, context } = await browser.open({ expect: [/409/] });
    await here.signIn(context);
    await page.goto(`${here.url}/settings/providers?provider=mistral`);
    await page.getByRole("textbox", { name: "Key" }).fill("canary-key-of-the-test");
    await page.getByRole("button", { name: "Save mistral" }).click();
    await page.getByRole("dialog").getByText("set here").waitFor();
    expect(await page.content()).not.toContain("canary-key");
    await expectNoSeriousAxe(page);

    await page.goto(`${here.url}/settings/users`);
    await page.getByRole("combobox", { name: "Role of ada" }).click();
    await page.getByRole("option", { name: /Viewer/ }).click();
    await page.getByText(/Make another user an admin first/).waitFor();
    await page.getByRole("button", { name: "Add user" }).click();
    await page.getByLabel("Name").fill("bea");
    await page.getByRole("dialog").getByRole("button", { name: "Add user" }).click();
    await page
      .getByRole("dialog")
      .getByText(/sign-in#link=/)
      .waitFor();
    await shoot(page, "settings-user-link");
    await expectNoSeriousAxe(page);
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("table", { name: "Users" }).getByText("bea").waitFor();
    expect(await page.content()).not.toContain("sign-in#link=");

    await page.goto(`${here.url}/settings/tokens`);
    await page.getByRole("button", { name: "Create token" }).first().click();
    await page.getByLabel("Name").fill("deploy-bot");
    await page.getByRole("dialog").getByRole("button", { name: "Create token" }).click();
    await page.getByRole("dialog").getByText(/^tsk_/).waitFor();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "Revoke deploy-bot" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke deploy-bot" }).click();
    await expect.poll(() => page.getByRole("button", { name: "Revoke deploy-bot" }).count()).toBe(0);
    await expectNoSeriousAxe(page);

    await page.goto(`${here.url}/settings/audit`);
    await page.getByRole("button", { name: "Verify the chain" }).click();
    await page.getByText(/entries are unbroken/).waitFor();
    await page.getByRole("combobox", { name: "Kind of action" }).click();
    await page.getByRole("option", { name: "API tokens" }).click();
    await expect
      .poll(() => page.getByRole("table", { name: "Audit" }).getByText("user.created").count())
      .toBe(0);
    await page.getByRole("table", { name: "Audit" }).getByText("token.revoked").waitFor();
    await shoot(page, "settings-audit");
    await expectNoSeriousAxe(page);
  });

  test("who may not is told who can", async () => {
    const here = await room();
    const { page, context } = await browser.open({ size: "phone", scheme: "dark" });
    await here.signIn(context, "viewer");
    await page.goto(`${here.url}/settings/users`);
    await page.getByText("You may not see users").waitFor();
    await page.goto(`${here.url}/agents/new`);
    await page.getByText("You may not make agents").waitFor();
    await (await here.client()).createAgent({ body: { definition: CLERK } });
    await page.goto(`${here.url}/agents/clerk`);
    await page.getByText("An admin can edit it").waitFor();
    expect(await page.getByLabel("Instructions", { exact: true }).isDisabled()).toBe(true);
    await expectNoSeriousAxe(page);
  });
});

/** Types as a person does: into the field that carries this name. */
async function typeNumber(page: Page, label: string, value: number): Promise<void> {
  await page.getByLabel(label, { exact: true }).fill(String(value));
  await page.keyboard.press("Tab");
}
