import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { defineWorkflow } from "trackside";
import { expect, test, vi } from "vitest";
import { expectNoSeriousAxe } from "./support/axe.ts";
import { startControlRoom, startControlRoomProcess } from "./support/control-room.ts";
import { downloadText } from "./support/download.ts";
import { shoot } from "./support/shoot.ts";
import { browserSuite } from "./support/suite.ts";
import parts from "./workflows-room.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
const PATIENT = { timeout: 120_000, interval: 100 };

/** What a page says while nobody answers it. */
const GONE = [/ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|ERR_INCOMPLETE_CHUNKED/];

/** The same workflow, whoever draws it and however. */
const DEPLOY = {
  name: "deploy",
  input: {
    type: "object",
    properties: { service: { type: "string" }, version: { type: "string" } },
    required: ["service", "version"],
  },
  nodes: {
    check_service: { kind: "tool", tool: "check_service", arguments: { service: "{{ input.service }}" } },
    approval: { kind: "approval", message: "Deploy {{ input.service }} {{ input.version }}?" },
    deploy_service: {
      kind: "tool",
      tool: "deploy_service",
      arguments: { service: "{{ input.service }}", version: "{{ input.version }}" },
    },
  },
  edges: [
    { from: "check_service", to: "approval" },
    { from: "approval", to: "deploy_service" },
  ],
};

const node = (page: Page, id: string) => page.locator(`.react-flow__node[data-id="${id}"]`);
const handle = (page: Page, id: string, port: string) =>
  page.locator(`.react-flow__handle[data-nodeid="${id}"][data-handleid="${port}"]`);
const field = (page: Page, label: string) => page.getByRole("textbox", { name: label, exact: true });

async function middle(locator: Locator): Promise<{ x: number; y: number }> {
  const box = await locator.boundingBox();
  if (box === null) throw new Error("it is not in sight");
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

async function drag(page: Page, from: Locator, to: { x: number; y: number }): Promise<void> {
  const start = await middle(from);
  await page.mouse.move(start.x, start.y);
  await page.mouse.down();
  await page.mouse.move((start.x + to.x) / 2, (start.y + to.y) / 2, { steps: 4 });
  await page.mouse.move(to.x, to.y, { steps: 4 });
  await page.mouse.up();
}

/** The definition without where nodes stand, which is each drawer's own. */
function withoutPlaces(definition: Record<string, unknown>): unknown {
  return JSON.parse(JSON.stringify(definition, (key, value) => (key === "position" ? undefined : value)));
}

await browserSuite("workflows in the control room", (browser) => {
  test("W4 W5 drawn with the mouse, run, the server killed under it, approved from the inbox, finished; exported, imported and run again with equal results", async () => {
    const room = await startControlRoomProcess(join(import.meta.dirname, "workflows-room.ts"));
    const tab = await browser.open({ expect: GONE });
    const { page, context } = tab;
    await room.signIn(context);
    await page.goto(`${room.url}/workflows`);
    await page.getByRole("button", { name: "Create a workflow" }).click();
    await page.getByRole("button", { name: "Deploy with approval" }).waitFor();
    await shoot(page, "workflows-new");
    await expectNoSeriousAxe(page);
    await page.getByRole("button", { name: /^Blank/ }).click();

    await field(page, "Name").fill("deploy");
    const input = page.getByRole("group", { name: "Input", exact: true });
    for (const name of ["service", "version"]) {
      await input.getByRole("button", { name: "Add a field" }).click();
      await input.getByRole("textbox", { name: /^Name of field field_/ }).fill(name);
    }
    await page.getByRole("button", { name: /Add the first node/ }).click();
    await page.getByRole("option", { name: /^check_service/ }).click();
    await field(page, "Service").click();
    await page.keyboard.type("{{ ser");
    await page.getByRole("option", { name: /input\.service/ }).click();
    expect(await field(page, "Service").inputValue()).toBe("{{ input.service }}");

    // Dropped where nothing is: what should come there?
    const out = await middle(handle(page, "check_service", "out"));
    await drag(page, handle(page, "check_service", "out"), { x: out.x + 60, y: out.y - 150 });
    await page.getByRole("option", { name: /^Approval/ }).click();
    await field(page, "Question").fill("Deploy {{ input.service }} {{ input.version }}?");

    // From one node to another; and what cannot be says why.
    await page.getByRole("button", { name: "Select nothing" }).click();
    await page.getByRole("button", { name: "Add node" }).click();
    await page.getByRole("option", { name: /^deploy_service/ }).click();
    await field(page, "Service").fill("{{ input.service }}");
    await field(page, "Version").fill("{{ input.version }}");
    await page.getByRole("button", { name: "Arrange" }).click();
    await expect.poll(() => handle(page, "deploy_service", "in").isVisible(), PATIENT).toBe(true);
    await drag(page, handle(page, "approval", "out"), await middle(handle(page, "deploy_service", "in")));
    await page.locator('[data-id="approval|out|deploy_service"]').waitFor({ state: "attached" });
    await drag(page, handle(page, "deploy_service", "out"), await middle(node(page, "check_service")));
    await page.getByText(/would go round in a circle: check_service → approval → deploy_service/).waitFor();
    await page.getByRole("button", { name: "Arrange" }).click();
    await shoot(page, "workflows-drawn");
    await expectNoSeriousAxe(page);
    await page.getByRole("button", { name: "Create workflow" }).click();
    await page.waitForURL(`${room.url}/workflows/deploy`);
    await page.getByText("Everything is saved").waitFor();
    const client = await room.client();
    const saved = await client.exportWorkflow({ params: { name: "deploy" } });
    expect(withoutPlaces(saved)).toMatchObject(DEPLOY);

    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("button", { name: "Start the run" }).click();
    await page
      .getByRole("dialog")
      .getByText(/service/i)
      .first()
      .waitFor();
    await page.getByRole("dialog").getByRole("textbox", { name: "Service" }).fill("search");
    await page.getByRole("dialog").getByRole("textbox", { name: "Version" }).fill("2.14");
    await shoot(page, "workflows-run-dialog");
    await page.getByRole("button", { name: "Start the run" }).click();
    await node(page, "approval").getByText("Waiting for you").waitFor();
    const address = page.url();
    expect(address).toContain("?run=");

    await room.kill();
    await page.getByText("Offline, trying again").waitFor();
    // What was there stays there, to be read.
    await node(page, "check_service").getByText("Done").waitFor();
    await room.restart();
    await page.getByText("Offline, trying again").waitFor({ state: "hidden" });

    const inbox = await browser.openBeside(tab);
    await node(page, "approval").click();
    const ask = page.getByRole("link", { name: "Decide in the inbox" });
    await inbox.page.goto(`${room.url}${await ask.getAttribute("href")}`);
    await inbox.page
      .getByRole("button", { name: /^Approve/ })
      .first()
      .click();
    // Nobody touched the canvas.
    await node(page, "deploy_service").getByText("Done").waitFor();
    await page.getByRole("button", { name: "Back to the run" }).click();
    const output = page.getByRole("region", { name: "Output" });
    await output.getByText('"search 2.14"').waitFor();
    await shoot(page, "workflows-run-done");
    await expectNoSeriousAxe(page);

    await page.getByRole("button", { name: "Actions on deploy" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: "Export as JSON" }).click(),
    ]);
    const exported = await downloadText(download);
    expect(JSON.parse(exported)).toEqual(saved);
    await page.goto(`${room.url}/workflows`);
    await page.getByRole("button", { name: "Import" }).click();
    await page.getByLabel("Definition").fill(exported);
    await page.getByLabel("Under another name").fill("deploy-again");
    await page.getByRole("button", { name: "Import workflow" }).click();
    await page.waitForURL(`${room.url}/workflows/deploy-again`);
    const again = await client.exportWorkflow({ params: { name: "deploy-again" } });
    expect({ ...again, name: "deploy" }).toEqual(saved);
    const { run_id } = await client.startWorkflow({
      params: { name: "deploy-again" },
      body: { input: { service: "search", version: "2.14" } },
    });
    await approveOnly(client, run_id);
    const first = new URL(address).searchParams.get("run") ?? "";
    await vi.waitFor(async () => {
      expect(await wordsOf(client, run_id)).toEqual(await wordsOf(client, first));
    }, PATIENT);
  });

  test("W4 the same workflow by keyboard alone, and what was done is undone and done again", async () => {
    const room = await startControlRoom(parts);
    const { page, context } = await browser.open();
    await room.signIn(context);
    await page.goto(`${room.url}/workflows`);
    await page.getByText("No workflows yet").waitFor();
    const press = async (...keys: readonly string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const focused = (what: string) =>
      expect
        .poll(
          () =>
            page.evaluate<string>(`(() => {
              const at = document.activeElement;
              return at?.dataset.id ?? at?.labels?.[0]?.textContent ?? at?.getAttribute("aria-label") ?? at?.textContent ?? "";
            })()`),
          PATIENT,
        )
        .toContain(what);
    /** Tab, until the field is there. */
    const tabTo = async (label: string) => {
      for (let stop = 0; stop < 40; stop++) {
        const at = await page.evaluate<string>(
          `document.activeElement?.labels?.[0]?.textContent ?? document.activeElement?.textContent ?? ""`,
        );
        if (at === label) return;
        await press("Tab");
      }
      throw new Error(`no stop is called ${label}`);
    };
    const add = async (what: string) => {
      await press("a");
      await focused("A kind, or the name");
      await page.keyboard.type(what);
      await press("Enter");
      await focused("Name");
    };
    await press("c");
    await page.getByRole("button", { name: /^Blank/ }).waitFor();
    await tabTo("BlankAn empty canvas.");
    await press("Enter");
    await page.getByText("Add the first node").waitFor();

    await press("Enter");
    await focused("Name");
    await page.keyboard.type("deploy");
    for (const name of ["service", "version"]) {
      await tabTo("Add a field");
      await press("Enter");
      await press("Shift+Tab", "Shift+Tab", "Shift+Tab", "Shift+Tab", "Shift+Tab");
      await focused("Name of field field_");
      await press("ControlOrMeta+a");
      await page.keyboard.type(name);
    }
    await press("Escape");
    await add("check_service");
    await tabTo("Service");
    await page.keyboard.type("{{ ser");
    await page.getByRole("option", { name: /input\.service/ }).waitFor();
    await press("Enter", "Escape");
    await focused("check_service");
    await add("approval");
    await tabTo("Question");
    await page.keyboard.type("Deploy {{ input.service }} {{ input.version }}?");
    await press("Escape");
    await focused("approval");
    // Apart, and then connected by its name: it would follow a node that is still selected.
    await press("Escape");
    await page.locator(".react-flow__node.selected").waitFor({ state: "detached" });
    await add("deploy_service");
    await tabTo("Service");
    await page.keyboard.type("{{ input.service }}");
    await tabTo("Version");
    await page.keyboard.type("{{ input.version }}");
    await press("Escape");
    await focused("deploy_service");
    await press("c");
    await page.keyboard.type("check");
    await page.getByRole("option", { name: /check_service/ }).waitFor();
    await press("Escape");
    await focused("deploy_service");
    await press("l");
    const at = async (id: string) => middle(node(page, id));
    await expect
      .poll(async () => (await at("deploy_service")).x - (await at("check_service")).x, PATIENT)
      .toBe(0);
    const isAbove = (await at("deploy_service")).y < (await at("check_service")).y;
    await press(isAbove ? "ArrowDown" : "ArrowUp");
    await focused("check_service");
    await press("ArrowRight");
    await focused("approval");
    await press("c");
    await page.keyboard.type("deploy");
    await press("Enter");
    await focused("approval");
    await press("ArrowRight");
    await focused("deploy_service");

    // A copy, removed; and all of it undone and done again.
    await press("ControlOrMeta+d");
    await node(page, "deploy_service-2").waitFor();
    await press("Delete");
    await node(page, "deploy_service-2").waitFor({ state: "detached" });
    await press("ControlOrMeta+z");
    await node(page, "deploy_service-2").waitFor();
    await press("ControlOrMeta+Shift+z");
    await node(page, "deploy_service-2").waitFor({ state: "detached" });
    await press("l");
    await shoot(page, "workflows-by-keyboard");
    await press("ControlOrMeta+s");
    await page.waitForURL(`${room.url}/workflows/deploy`);
    const client = await room.client();
    expect(withoutPlaces(await client.exportWorkflow({ params: { name: "deploy" } }))).toMatchObject(DEPLOY);

    // The page takes its keys once it is painted, which nothing on it shows.
    const service = page.getByRole("dialog").getByRole("textbox", { name: "Service" });
    await expect
      .poll(async () => {
        if (!(await service.isVisible())) await press("r");
        return service.isVisible();
      }, PATIENT)
      .toBe(true);
    await tabTo("Service");
    await page.keyboard.type("search");
    await tabTo("Version");
    await page.keyboard.type("2.14");
    await press("Enter");
    await node(page, "approval").getByText("Waiting for you").waitFor();
    await press("g", "i");
    await page
      .getByRole("button", { name: /^Approve/ })
      .first()
      .waitFor();
    await press("a");
    await page
      .getByText(/Decided by you/)
      .first()
      .waitFor();
    await page.goBack();
    await node(page, "deploy_service").getByText("Done").waitFor();
  });

  test("X10 two people save, and who leaves is asked; problems lead to their fields; versions differ, are shown and restored", async () => {
    const room = await startControlRoom({ ...parts, workflows: [inCode] });
    const { page, context } = await browser.open({ expect: [/409|422/] });
    await room.signIn(context);
    const client = await room.client();
    await client.createWorkflow({ body: { definition: DEPLOY } });
    await page.goto(`${room.url}/workflows/deploy`);
    await node(page, "approval").click();
    await field(page, "Question").fill("Mine?");
    const theirs = { ...DEPLOY, description: "Theirs." };
    await client.saveWorkflow({
      params: { name: "deploy" },
      body: { definition: theirs, version: 1, note: "theirs" },
    });
    await page.getByRole("button", { name: "Save workflow" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/ada saved version 2 while you edited/).waitFor();
    await dialog.getByText("Theirs.").waitFor();
    await expectNoSeriousAxe(page);
    await dialog.getByRole("button", { name: "Load theirs" }).click();
    await page.getByRole("button", { name: "Bring mine back" }).click();
    await node(page, "approval").getByText("Mine?").waitFor();
    await page.getByRole("link", { name: "Runs", exact: true }).first().click();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect(page.url()).toBe(`${room.url}/workflows/deploy`);

    // A name nobody has: told at the node, in the list, and beside the field, before anything is sent.
    await node(page, "deploy_service").click();
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByRole("button", { name: "Save workflow" }).click();
    const problems = page.getByRole("region", { name: "Problems" });
    await page.getByRole("button", { name: "Select nothing" }).click();
    await problems.getByRole("button", { name: "nodes.deploy_service.tool" }).click();
    await page.locator('[data-field="nodes.deploy_service.tool"] :focus').waitFor();
    await shoot(page, "workflows-problems");
    await expectNoSeriousAxe(page);
    await page.keyboard.press("ControlOrMeta+z");
    await problems.waitFor({ state: "detached" });

    // The id changes, and what refers to it follows.
    await node(page, "check_service").click();
    await field(page, "Id").fill("check");
    await page.keyboard.press("Enter");
    await node(page, "check").waitFor();
    await page.getByLabel("Note for the version").fill("A shorter name.");
    await page.keyboard.press("ControlOrMeta+s");
    await page.getByText("Everything is saved").waitFor();
    const saved = await client.getWorkflow({ params: { name: "deploy" } });
    expect(saved).toMatchObject({ version: 3, definition: { edges: [{ from: "check" }, {}] } });

    await page.goto(`${room.url}/workflows/deploy/versions`);
    await page.getByRole("table", { name: "Versions" }).getByText("theirs").waitFor();
    await shoot(page, "workflows-versions");
    await expectNoSeriousAxe(page);
    await page.getByRole("row", { name: /^v1/ }).click();
    await page.getByRole("link", { name: "Show version 1 on the canvas" }).click();
    await node(page, "check_service").waitFor();
    await page.getByText(/Version 1, as ada saved it/).waitFor();
    await page.goBack();
    await page.getByRole("row", { name: /^v1/ }).getByRole("button", { name: "Restore" }).click();
    await page.getByRole("button", { name: "Restore version 1" }).click();
    await page.getByText("from v1").waitFor();

    await page.goto(`${room.url}/workflows`);
    await page.getByRole("button", { name: "Import" }).click();
    await page.getByLabel("Definition").fill(JSON.stringify({ ...DEPLOY, edges: [{ from: "a", to: "b" }] }));
    await page.getByLabel("Under another name").fill("other");
    await page.getByRole("button", { name: "Import workflow" }).click();
    await page.getByRole("alert").getByText("edges[0].from").waitFor();
    await page.keyboard.press("Escape");
    await shoot(page, "workflows-list");
    await page.goto(`${room.url}/workflows/nightly`);
    await page.getByText("trackside.config.ts").waitFor();
    expect(await page.getByRole("button", { name: "Save workflow" }).count()).toBe(0);
    await expectNoSeriousAxe(page);
  });

  test("W4 a node that failed says why and is tried again from there; on a phone the run is watched with a thumb", async () => {
    const room = await startControlRoom(parts);
    const client = await room.client();
    const definition = {
      ...DEPLOY,
      nodes: {
        check_service: DEPLOY.nodes.check_service,
        deploy_service: DEPLOY.nodes.deploy_service,
        held: { kind: "wait", for: { seconds: 1 } },
      },
      edges: [
        { from: "check_service", to: "deploy_service" },
        { from: "check_service", to: "held", when: "failed" },
      ],
    };
    await client.createWorkflow({ body: { definition } });
    const { page, context } = await browser.open({ size: "phone", scheme: "dark" });
    await room.signIn(context);
    await page.goto(`${room.url}/workflows/deploy`);
    await page.getByText("To edit it, open it on a wider screen.").waitFor();
    await shoot(page, "workflows-phone");
    await expectNoSeriousAxe(page);
    await page.getByRole("button", { name: "Run", exact: true }).tap();
    await page.getByRole("dialog").getByRole("textbox", { name: "Service" }).fill("flaky");
    await page.getByRole("dialog").getByRole("textbox", { name: "Version" }).fill("1");
    await page.getByRole("button", { name: "Start the run" }).tap();
    const list = page.getByRole("navigation", { name: "Nodes" });
    await list.getByRole("button", { name: /deploy_service.*Failed/ }).tap();
    await page.getByRole("region", { name: "Why it failed" }).getByText("the disk is full").waitFor();
    await list.getByRole("button", { name: /held.*Skipped/ }).waitFor();
    await shoot(page, "workflows-phone-failed");
    await expectNoSeriousAxe(page);
    const before = page.url();
    await page.getByRole("button", { name: "Retry from here" }).tap();
    await page.getByRole("button", { name: "Retry from deploy_service" }).tap();
    await list.getByRole("button", { name: /deploy_service.*Done/ }).waitFor();
    await list.getByRole("button", { name: /check_service.*Done/ }).waitFor();
    expect(page.url()).not.toBe(before);
    await shoot(page, "workflows-phone-retried");

    const viewer = await browser.open();
    await room.signIn(viewer.context, "viewer");
    await viewer.page.goto(`${room.url}/workflows/deploy`);
    await viewer.page.getByText("An admin can edit it").waitFor();
    expect(await viewer.page.getByRole("button", { name: "Run", exact: true }).isDisabled()).toBe(true);
    await expectNoSeriousAxe(viewer.page);
  });
});

/** One that is in the configuration: to be read here, and changed there. */
const inCode = defineWorkflow({
  name: "nightly",
  nodes: { pause: { kind: "wait", for: { seconds: 60 } } },
  edges: [],
});

type Client = Awaited<ReturnType<Awaited<ReturnType<typeof startControlRoom>>["client"]>>;

async function approveOnly(client: Client, run: string): Promise<void> {
  const id = await vi.waitFor(async () => {
    const [pending] = (await client.getRun({ params: { id: run } })).pending_approvals;
    if (pending === undefined) throw new Error("nobody is asked yet");
    return pending;
  }, PATIENT);
  await client.decideApproval({ params: { id }, body: { choice: "approve" } });
}

/** What a run came to: its last word. */
async function wordsOf(client: Client, id: string): Promise<unknown> {
  const { items } = await client.listEvents({ params: { id }, query: {} });
  const said = items.findLast((event) => event.type === "text");
  expect(items.at(-1)).toMatchObject({ type: "status", status: "completed" });
  return said?.type === "text" ? JSON.parse(said.text) : undefined;
}
