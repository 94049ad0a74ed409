import type { Client } from "@trackside/server/client";
import type { Page } from "playwright-core";
import { expect, test, vi } from "vitest";
import parts from "./inbox-room.ts";
import { expectNoSeriousAxe } from "./support/axe.ts";
import type { OpenBrowser } from "./support/browser.ts";
import { type ControlRoomHere, startControlRoom } from "./support/control-room.ts";
import { shoot } from "./support/shoot.ts";
import { browserSuite } from "./support/suite.ts";

vi.setConfig({ testTimeout: 300_000 }); // a browser and a server, when they get a turn
const PATIENT = { timeout: 120_000, interval: 200 };

const REFUSED = {
  type: "about:blank",
  title: "Cannot be done",
  status: 422,
  code: "decision_invalid",
  detail: "nothing to do here",
};

type Row = Awaited<ReturnType<Client["listApprovals"]>>["items"][number];

/** A room, somebody signed in, and runs that have come to their question. */
async function inboxWith(browser: OpenBrowser, messages: readonly string[], options: Options = {}) {
  const room = await startControlRoom({ ...parts, ...(options.password && { password: options.password }) });
  const client = await room.client();
  const rows = await asking(client, messages);
  const tab = await browser.open({
    size: options.size ?? "desktop",
    scheme: options.scheme ?? "light",
    expect: options.expect ?? [],
  });
  await room.signIn(tab.context, options.role ?? "admin");
  return { room, client, rows, tab, page: tab.page };
}

interface Options {
  size?: "desktop" | "phone";
  scheme?: "light" | "dark";
  role?: "viewer" | "approver" | "admin";
  expect?: RegExp[];
  /** Of the admin, for a test that signs in by the form. */
  password?: string;
}

/** Starts a run for each message and waits until all of them ask. */
async function asking(client: Client, messages: readonly string[]): Promise<Row[]> {
  const runs = new Set<string>();
  for (const input of messages)
    runs.add((await client.startRun({ body: { agent: "keeper", input } })).run_id);
  return vi.waitFor(async () => {
    const { items } = await client.listApprovals({});
    const found = items.filter(({ run_id }) => runs.has(run_id));
    expect(new Set(found.map(({ run_id }) => run_id)).size).toBe(runs.size);
    return found;
  }, PATIENT);
}

async function open(page: Page, room: ControlRoomHere, id: string): Promise<void> {
  await page.goto(`${room.url}/inbox/${id}`);
  await page.getByRole("heading", { name: "What led here" }).waitFor();
}

const find = (rows: readonly Row[], tool: string, service?: string) => {
  const row = rows.find((one) => one.tool === tool && (!service || one.arguments?.["service"] === service));
  if (row === undefined) throw new Error(`nobody asks about ${tool} ${service ?? ""}`);
  return row;
};

const decided = (page: Page, words: string | RegExp) =>
  page.getByRole("status").filter({ hasText: words }).waitFor();

await browserSuite("the approvals inbox", (browser) => {
  test("the list opens its first, whose evidence is there without a click; keys move and decide", async () => {
    const { client, rows, page, room } = await inboxWith(browser, ["restart payments", "both"]);
    await page.goto(`${room.url}/inbox`);
    await page.getByRole("heading", { name: "What led here" }).waitFor();
    await expect.poll(() => page.title(), PATIENT).toBe("(3) May restart_service run? · Trackside");
    const pane = page.getByRole("article", { name: "Approval" });
    for (const words of [
      "night-watch: 2 of 6 instances are failing",
      "restart_service runs once, with exactly these arguments.",
      "The model is told that nobody decided in time.",
      "I look at the service before I touch it.",
      '"half of them fail"',
      '"payments"',
    ])
      await pane.getByText(words).first().waitFor();
    await expectNoSeriousAxe(page);
    await shoot(page, "inbox-desktop");
    await page.keyboard.press("j");
    await pane.getByText("Others of this run, decided separately").waitFor();
    await page.keyboard.press("k");
    await page.keyboard.press("?");
    const help = page.getByRole("dialog");
    await help.getByText("Approve restart_service").waitFor();
    await help.getByText("Edit the arguments").waitFor();
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "hidden" });
    await page.keyboard.press("a");
    await decided(page, "Decided by you: approved");
    // It stays in its place until somebody goes on.
    await page.getByRole("link", { name: /restart_service approved by you/ }).waitFor();
    await page.keyboard.press("j");
    await expect.poll(() => page.getByRole("link", { name: /approved by you/ }).count(), PATIENT).toBe(0);
    await page.keyboard.press("d");
    await page.getByLabel("Reason").fill("not at night");
    await page.keyboard.press("Enter");
    await decided(page, "Decided by you: rejected");
    const first = find(rows, "restart_service", "payments");
    expect((await client.getApproval({ params: { id: first.id } })).decision).toMatchObject({
      choice: "approve",
      by: "ada",
    });
    const { items } = await client.listApprovals({ query: { state: "rejected" } });
    expect(items.map(({ decision }) => decision?.reason)).toEqual(["not at night"]);
    await expect.poll(() => page.title(), PATIENT).toMatch(/^\(1\) /);
  });

  test("no single key runs what cannot be taken back; the button asks once more", async () => {
    const { client, rows, page, room } = await inboxWith(browser, ["deploy checkout"]);
    const { id } = find(rows, "deploy_service");
    await open(page, room, id);
    await page.getByText("No single key approves it").waitFor();
    await page.keyboard.press("a");
    await page.keyboard.press("a");
    expect((await client.getApproval({ params: { id } })).state).toBe("pending");
    await page.getByRole("button", { name: "Approve deploy_service" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("It cannot be taken back").waitFor();
    await dialog.getByText('"2.14"').waitFor();
    await expectNoSeriousAxe(page);
    // The way out has the focus: Enter once too often approves nothing.
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "hidden" });
    expect((await client.getApproval({ params: { id } })).state).toBe("pending");
    await page.getByRole("button", { name: "Approve deploy_service" }).click();
    await dialog.getByRole("button", { name: "Approve deploy_service" }).click();
    await decided(page, "Decided by you: approved");
  });

  test("arguments are edited in a form, with what changes beside it; an edit is not remembered", async () => {
    const { client, rows, page, room } = await inboxWith(browser, ["restart payments"]);
    const { id, run_id } = find(rows, "restart_service");
    await open(page, room, id);
    await page.getByRole("switch", { name: "Remember this decision" }).click();
    await page
      .getByText("Approves calls of restart_service with exactly these arguments of keeper")
      .waitFor();
    await page.keyboard.press("Escape");
    await page.locator("body").press("e");
    await page.getByLabel("Instances").fill("40");
    await page.getByText("Not with changes").waitFor();
    await page.getByRole("button", { name: "Approve restart_service with changes" }).click();
    await page.getByText("has to be at most 12").waitFor();
    await page.getByLabel("Instances").fill("3");
    await page
      .getByRole("figure", { name: /Changes to the arguments/ })
      .getByText('"instances": 3')
      .waitFor();
    await expectNoSeriousAxe(page);
    await shoot(page, "inbox-edit");
    await page.getByRole("button", { name: "Approve restart_service with changes" }).click();
    await decided(page, "Decided by you: approved with changes");
    expect((await client.getApproval({ params: { id } })).decision?.edited_arguments).toEqual({
      service: "payments",
      instances: 3,
    });
    expect((await client.listRules({})).items).toEqual([]);
    await vi.waitFor(async () => {
      expect((await client.getRun({ params: { id: run_id } })).status).toBe("completed");
    }, PATIENT);
  });

  test("a rule is made in the words that were shown, decides, and is revoked", async () => {
    const { client, rows, page, room } = await inboxWith(browser, ["restart payments"], { role: "approver" });
    await open(page, room, find(rows, "restart_service").id);
    await page.getByRole("switch", { name: "Remember this decision" }).click();
    await page.getByRole("radio", { name: "Every call" }).click();
    await page.getByRole("switch", { name: "Only for user ada" }).click();
    const words = await page.getByText("Approves every call of restart_service").textContent();
    await page.getByRole("button", { name: "Approve restart_service and remember" }).click();
    await decided(page, "Decided by you: approved");
    const { items } = await client.listRules({});
    expect(items.map(({ text }) => `The rule this makes: ${text}`)).toEqual([words]);
    await client.startRun({ body: { agent: "keeper", input: "restart payments" } });
    await vi.waitFor(async () => {
      const { items: approved } = await client.listApprovals({ query: { state: "approved" } });
      expect(approved.map(({ decision }) => decision?.by)).toContain(`rule:${items[0]?.id}`);
    }, PATIENT);
    await page.getByRole("tab", { name: "History" }).click();
    await page.getByRole("row", { name: /a remembered rule/ }).waitFor();
    await page.getByRole("radio", { name: "Rejected" }).click();
    await page.getByText("No such decisions").waitFor();
    expect(page.url()).toContain("tab=history&state=rejected");
    await page.goto(`${room.url}/inbox?tab=rules`);
    await page.getByRole("button", { name: "Revoke the rule for restart_service" }).click();
    await expectNoSeriousAxe(page);
    await page.getByLabel("Reason").fill("over");
    await page.getByRole("button", { name: "Revoke the rule", exact: true }).click();
    await page.getByText("Nothing is remembered").waitFor();
    expect((await client.listRules({})).items).toEqual([]);
  });

  test("new ones announce themselves and wait; other tabs hear who decided; who comes second hears who won", async () => {
    const { client, rows, tab, page, room } = await inboxWith(browser, ["restart payments", "both"], {
      expect: [/409/],
    });
    const other = await room.client("approver");
    const first = find(rows, "restart_service", "payments");
    const second = find(rows, "restart_service", "storefront");
    await open(page, room, first.id);
    const list = page.getByRole("list", { name: "Waiting for a decision" });
    expect(await list.getByRole("listitem").count()).toBe(3);
    await asking(client, ["restart payments again"]);
    await page.getByRole("button", { name: "1 new approval" }).waitFor();
    expect(await list.getByRole("listitem").count()).toBe(3);
    await page.getByRole("button", { name: "1 new approval" }).click();
    await expect.poll(() => list.getByRole("listitem").count(), PATIENT).toBe(4);
    // Decided elsewhere, while the pointer rests in the list.
    await list.hover();
    await other.decideApproval({ params: { id: first.id }, body: { choice: "approve" } });
    await decided(page, "Decided by approver-of-the-test: approved");
    await page.getByRole("link", { name: /approved by approver-of-the-test/ }).waitFor();
    expect(await list.getByRole("listitem").count()).toBe(4);
    // Both at once: the other is a moment faster.
    const beside = await browser.openBeside(tab);
    await open(beside.page, room, second.id);
    await beside.page.route(/\/decide$/, async (route) => {
      await other.decideApproval({ params: { id: second.id }, body: { choice: "reject", reason: "no" } });
      await route.continue();
    });
    await beside.page.keyboard.press("a");
    await beside.page
      .getByText("Approver-of-the-test decided first: rejected. Your decision was not used.")
      .waitFor();
    await decided(beside.page, "Decided by approver-of-the-test: rejected");
  });

  test("X10 a decision whose answer was lost is sent again under its key, and counts once", async () => {
    const { client, rows, page, room } = await inboxWith(browser, ["restart payments"], {
      expect: [/ERR_|decide/],
    });
    const { id } = find(rows, "restart_service");
    await open(page, room, id);
    const keys: (string | undefined)[] = [];
    await page.route(/\/decide$/, async (route) => {
      keys.push(route.request().headers()["idempotency-key"]);
      if (keys.length > 1) return route.continue();
      await route.fetch(); // it arrives, and the answer does not
      await route.abort("connectionreset");
    });
    await page.keyboard.press("a");
    await decided(page, "Decided by you: approved");
    await vi.waitFor(() => expect(keys.length).toBeGreaterThan(1), PATIENT);
    expect(new Set(keys).size).toBe(1);
    expect((await client.getApproval({ params: { id } })).state).toBe("approved");
  });

  test("on a phone in the dark: a result is given in a form, a question answered, with one thumb", async () => {
    const { client, rows, page, room } = await inboxWith(browser, ["window", "capacity"], {
      size: "phone",
      scheme: "dark",
    });
    await page.goto(`${room.url}/inbox`);
    await page.getByRole("link", { name: /pick_window/ }).waitFor();
    await expectNoSeriousAxe(page);
    await page.getByRole("link", { name: /pick_window/ }).tap();
    await page.getByRole("button", { name: "Send result of pick_window" }).tap();
    await page.getByText("is needed").first().waitFor();
    await page.getByRole("combobox", { name: "Day" }).tap();
    await page.getByRole("option", { name: "tomorrow" }).tap();
    await page.getByLabel("Hour").fill("4");
    await expectNoSeriousAxe(page);
    await shoot(page, "inbox-phone-dark");
    await page.getByRole("button", { name: "Send result of pick_window" }).tap();
    await decided(page, "Decided by you: result given");
    const window = find(rows, "pick_window");
    expect((await client.getApproval({ params: { id: window.id } })).decision?.response).toEqual({
      day: "tomorrow",
      hour: 4,
    });
    await page.getByRole("button", { name: "Next: order_capacity" }).tap();
    await page.getByText("How many machines, and until when?").waitFor();
    await page.getByLabel("Machines").fill("3");
    await page.getByRole("button", { name: "Answer order_capacity" }).tap();
    await decided(page, "Decided by you: answered");
    const wide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
    expect(wide).toBe(false);
  });

  test("L8 of a call whose outcome nobody knows, what came of it can be said", async () => {
    const { rows, page, room } = await inboxWith(browser, ["deploy checkout"], { expect: [/422/] });
    const { id } = find(rows, "deploy_service");
    const sent: unknown[] = [];
    // Only a crash makes such a question; here the page is told of one.
    await page.route(new RegExp(`/approvals/${id}$`), async (route) => {
      const response = await route.fetch();
      const kind = { kind: "unknown_outcome", choices: ["ran", "run", "give_up"], response_schema: null };
      await route.fulfill({ response, json: { ...(await response.json()), ...kind } });
    });
    await page.route(/\/decide$/, async (route) => {
      sent.push(route.request().postDataJSON());
      await route.fulfill({ status: 422, json: REFUSED });
    });
    await open(page, room, id);
    await page.getByRole("heading", { name: "Did deploy_service run?" }).waitFor();
    await page.getByRole("button", { name: "deploy_service ran: send its result" }).click();
    await page.getByText("is needed").waitFor();
    await page.getByRole("region", { name: "Result" }).getByRole("textbox").fill('{ "deployed": true }');
    await page.getByRole("button", { name: "deploy_service ran: send its result" }).click();
    await page.getByText("nothing to do here").waitFor();
    await page.getByRole("button", { name: "Run deploy_service again" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Give up on deploy_service" }).click();
    await page.getByLabel("Reason").fill("nobody knows");
    await page.keyboard.press("Enter");
    await vi.waitFor(() => expect(sent).toHaveLength(2), PATIENT);
    expect(sent).toEqual([
      { choice: "ran", response: { deployed: true } },
      { choice: "give_up", reason: "nobody knows" },
    ]);
  });

  test("a link to a question survives the sign-in, and shows what it is made of, not what it pretends", async () => {
    const password = "wet moss under bridges";
    const { rows, page, room, tab } = await inboxWith(browser, ["hostile"], { expect: [/401/], password });
    await tab.context.clearCookies();
    await page.goto(`${room.url}/inbox/${rows[0]?.id}`);
    await page.getByLabel("Name").fill("ada");
    await page.getByLabel("Password").fill(password);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "May restart_service run?" }).waitFor();
    const values = page.getByRole("figure", { name: "Arguments of restart_service" });
    expect(await values.textContent()).toContain(String.raw`"<img src=x onerror=alert(1)>\u{202e}"`);
    expect(await page.locator("img").count()).toBe(0);
  });

  test("who may not decide reads everything and is told who can", async () => {
    const { client, rows, page, room } = await inboxWith(browser, ["restart payments"], {
      role: "viewer",
      expect: [/404/],
    });
    const { id } = find(rows, "restart_service");
    await open(page, room, id);
    await page.getByText("An approver or admin can decide this. You can read it.").waitFor();
    expect(await page.getByRole("button", { name: /^(Approve|Reject)/ }).count()).toBe(0);
    await page.keyboard.press("a");
    await page.keyboard.press("d");
    await expectNoSeriousAxe(page);
    expect((await client.getApproval({ params: { id } })).state).toBe("pending");
    await page.goto(`${room.url}/inbox/apr_none`);
    await page.getByText("Approval not found").waitFor();
  });
});
