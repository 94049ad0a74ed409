import { createHmac } from "node:crypto";
import { Agent } from "trackside";
import { scriptedModel } from "trackside/testing";
import { expect, test, vi } from "vitest";
import { expectNoSeriousAxe } from "./support/axe.ts";
import { type ControlRoomHere, startControlRoom } from "./support/control-room.ts";
import { shoot } from "./support/shoot.ts";
import { browserSuite } from "./support/suite.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
const PATIENT = { timeout: 60_000, interval: 50 };

const clerk = () => new Agent({ name: "clerk", model: scriptedModel(["Good day."], { loop: true }) });
const room = (): Promise<ControlRoomHere> => startControlRoom({ agents: [clerk()] });
const cron = (pattern: string) => ({ kind: "cron", pattern, time_zone: "Europe/Berlin" }) as const;
const morning = {
  name: "morning",
  target: { kind: "agent", name: "clerk" } as const,
  input: "What is new?",
  trigger: cron("0 7 * * 1-5"),
};

await browserSuite("schedules in the control room", (browser) => {
  test("one is made with its next five times in sight, runs now, and tells what came of it", async () => {
    const here = await room();
    const { page, context } = await browser.open();
    await here.signIn(context);
    await page.goto(`${here.url}/schedules`);
    await page.getByRole("heading", { name: "No schedules yet" }).waitFor();
    await shoot(page, "schedules-empty");
    await page.getByRole("button", { name: "New schedule" }).click();

    await page.getByLabel("Name").fill("morning");
    await page.getByRole("combobox", { name: "Agent" }).fill("clerk");
    await page.getByRole("option", { name: "clerk" }).click();
    await page.getByLabel("What it is told").fill("What is new?");
    await page.getByRole("combobox", { name: "Time zone" }).fill("Tokyo");
    await page.getByRole("option", { name: "Asia/Tokyo" }).click();
    const times = page.getByRole("region", { name: "Next five times" });
    await page.getByLabel("Pattern").fill("0 0 30 2 *");
    await page.getByText(/this one never fires/).waitFor();
    await shoot(page, "schedules-wrong-pattern");
    await page.getByLabel("Pattern").fill("30 9 L * *");
    await times.getByText("at 09:30 on the last day of every month, Asia/Tokyo").waitFor();
    await expect.poll(() => times.getByRole("listitem").count(), PATIENT).toBe(5);
    expect(await times.getByRole("listitem").first().textContent()).toMatch(/09:30:00 UTC\+9/);
    await page.getByRole("radio", { name: /Run each of them/ }).click();
    await page.getByRole("radio", { name: /Leave this time out/ }).click();
    await shoot(page, "schedules-editor-desktop", { whole: true });
    await expectNoSeriousAxe(page);
    await page.getByRole("button", { name: "Create schedule" }).click();

    await page.getByRole("heading", { name: "morning" }).waitFor();
    const [made] = await here.trackside.schedules.list();
    expect(made).toMatchObject({
      name: "morning",
      trigger: { pattern: "30 9 L * *", time_zone: "Asia/Tokyo" },
      missed: "all",
      overlap: "skip",
      words: "at 09:30 on the last day of every month",
    });
    await page.getByRole("button", { name: "Run now" }).click();
    await page.getByRole("tab", { name: "History" }).click();
    const history = page.getByRole("table", { name: "History of morning" });
    await history.getByText("Done").waitFor();
    await expectNoSeriousAxe(page);
    await shoot(page, "schedules-history-desktop");
    await history.getByRole("link").first().click();
    await page.waitForURL(/\/runs\/run_/);
  });

  test("a webhook's secret is shown once, and what is signed with it starts a run", async () => {
    const here = await room();
    const { page, context } = await browser.open();
    await here.signIn(context);
    await page.goto(`${here.url}/schedules/new?agent=clerk`);
    await page.getByLabel("Name").fill("tickets");
    await page.getByRole("radio", { name: "By a webhook" }).click();
    await page.getByLabel("What it is told").fill("Triage {{body}}");
    await page.getByRole("button", { name: "Create schedule" }).click();
    const dialog = page.getByRole("dialog", { name: "The secret of tickets" });
    const secret = ((await dialog.getByRole("figure", { name: "Secret" }).textContent()) ?? "").trim();
    expect(secret).toMatch(/^whsec_/);
    expect(await dialog.getByRole("figure", { name: "Example" }).textContent()).toContain(secret);
    await expectNoSeriousAxe(page);
    await shoot(page, "schedules-secret-desktop");
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByRole("region", { name: "Webhook", exact: true }).waitFor();
    expect(await page.content()).not.toContain(secret);
    await shoot(page, "schedules-webhook-desktop", { whole: true });

    const address = ((await page.getByRole("figure", { name: "Address" }).textContent()) ?? "").trim();
    const body = '{"ticket": 17}';
    const at = Math.floor(Date.now() / 1000);
    const mac = createHmac("sha256", secret).update(`${at}.${body}`).digest("hex");
    const sent = await fetch(address, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", "trackside-signature": `t=${at},v1=${mac}` },
    });
    expect(sent.status).toBe(202);
    await page.getByRole("tab", { name: "History" }).click();
    await page.getByRole("table").getByText("a webhook").waitFor();

    await page.getByRole("tab", { name: "Schedule", exact: true }).click();
    await page.getByRole("button", { name: "Make a new secret" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Make a new secret" }).click();
    const next = page.getByRole("dialog", { name: "The secret of tickets" });
    expect(await next.getByRole("figure", { name: "Secret" }).textContent()).not.toContain(secret);
  });

  test("the list switches on and off; who saved meanwhile is told; a viewer only looks", async () => {
    const here = await room();
    const { schedules } = here.trackside;
    const { id } = await schedules.create(morning, { by: "ann" });
    await schedules.create({ ...morning, name: "tickets", trigger: { kind: "webhook" } }, { by: "ann" });
    await schedules.create({ ...morning, name: "nightly", enabled: false }, { by: "ann" });
    await schedules.fire("morning", { by: "ann" });
    const { page, context } = await browser.open({ expect: [/409.*schedules/] });
    await here.signIn(context);
    await page.goto(`${here.url}/schedules`);
    const table = page.getByRole("table", { name: "Schedules" });
    await table.getByText("at 07:00 on weekdays").first().waitFor();
    await table.getByText("Done").waitFor();
    await expectNoSeriousAxe(page);
    await shoot(page, "schedules-list-desktop");
    await table.getByRole("switch", { name: "morning is on" }).click();
    await vi.waitFor(async () => expect((await schedules.get(id)).enabled).toBe(false), PATIENT);

    await table.getByRole("link", { name: "morning" }).click();
    await page.getByLabel("What it is told").fill("Mine");
    await schedules.save(id, { ...morning, input: "Theirs" }, { by: "ben", version: 2 });
    await page.getByRole("button", { name: "Save schedule" }).click();
    const conflict = page.getByRole("dialog", { name: "ben saved version 3 while you edited" });
    await expectNoSeriousAxe(page);
    await conflict.getByRole("button", { name: "Save mine over it" }).click();
    await vi.waitFor(
      async () => expect(await schedules.get(id)).toMatchObject({ input: "Mine", version: 4 }),
      PATIENT,
    );
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete morning" }).click();
    await page.getByRole("link", { name: "tickets" }).waitFor();
    await expect.poll(() => page.getByRole("link", { name: "morning" }).count(), PATIENT).toBe(0);

    const other = await browser.open();
    await here.signIn(other.context, "viewer");
    await other.page.goto(`${here.url}/schedules`);
    expect(await other.page.getByRole("button", { name: "New schedule" }).isDisabled()).toBe(true);
    await other.page.getByRole("link", { name: "nightly" }).click();
    await other.page.getByText("Read-only for you. An operator or admin can edit it.").waitFor();
    expect(await other.page.getByRole("button", { name: "Save schedule" }).count()).toBe(0);
  });

  test("on a phone: the list, the editor and the history fit", async () => {
    const here = await room();
    const { schedules } = here.trackside;
    const { id } = await schedules.create(morning, { by: "ann" });
    await schedules.create(
      { ...morning, name: "a rather long name for a schedule of reports" },
      { by: "ann" },
    );
    await schedules.fire("morning", { by: "ann" });
    await schedules.create(
      { ...morning, name: "plan", target: { kind: "plan", name: "clerk" }, input: null },
      { by: "ann" },
    );
    const { reason } = await schedules.fire("plan", { by: "ann" });
    const { page, context } = await browser.open({ size: "phone", scheme: "dark" });
    await here.signIn(context);
    for (const [name, path, shows] of [
      ["list", "/schedules", "Schedules"],
      ["one", `/schedules/${id}`, "morning"],
      ["history", `/schedules/${id}?tab=history`, "morning"],
    ] as const) {
      await page.goto(`${here.url}${path}`);
      await page.getByRole("heading", { name: shows }).first().waitFor();
      await expect.poll(() => page.locator(".skeleton").count(), PATIENT).toBe(0);
      await expectNoSeriousAxe(page);
      await shoot(page, `schedules-${name}-phone`, { whole: true });
      const over = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
      expect(over).toBe(0);
    }
    await page.goto(`${here.url}/schedules/plan?tab=history`);
    await page
      .getByRole("list", { name: "History of plan" })
      .getByText(reason ?? "no reason")
      .waitFor();
    await shoot(page, "schedules-failed-phone");
  });
});
