import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test, vi } from "vitest";
import { STORY } from "./restart-room.ts";
import { startControlRoomProcess } from "./support/control-room.ts";
import { shoot } from "./support/shoot.ts";
import { browserSuite } from "./support/suite.ts";

vi.setConfig({ testTimeout: 300_000 }); // a browser and a server, when they get a turn
const PATIENT = { timeout: 120_000, interval: 100 };

/** What a page says while nobody answers it. */
const GONE = [/ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|ERR_INCOMPLETE_CHUNKED/];

const offline = (page: Page) => page.getByText("Offline, trying again");

const times = (text: string | null, part: string) =>
  (text ?? "").replaceAll(/\s+/g, " ").split(part).length - 1;

await browserSuite("a server that is killed under open pages", (browser) => {
  test("L5 E4 pages say so and recover by themselves: nothing is missing or there twice, and a decision still counts", async () => {
    const room = await startControlRoomProcess(join(import.meta.dirname, "restart-room.ts"));
    const client = await room.client();
    const talk = await browser.open({ expect: GONE });
    await room.signIn(talk.context);
    const inbox = await browser.openBeside(talk);
    const asked = await browser.openBeside(talk);

    await asked.page.goto(`${room.url}/playground/keeper`);
    await asked.page.getByLabel("Message to keeper").fill("Restart payments");
    await asked.page.keyboard.press("Enter");
    await asked.page.getByRole("button", { name: "Approve restart_service" }).waitFor();
    await inbox.page.goto(`${room.url}/inbox`);
    await inbox.page.getByRole("heading", { name: "What led here" }).waitFor();
    const address = inbox.page.url();
    await talk.page.goto(`${room.url}/playground/writer`);
    await talk.page.getByLabel("Message to writer").fill("A story");
    await talk.page.keyboard.press("Enter");
    await talk.page.getByText(/word5\b/).waitFor();

    await room.kill();
    for (const { page } of [talk, inbox, asked]) await offline(page).waitFor();
    // What was there stays there, to be read.
    await talk.page.getByText(/word5\b/).waitFor();
    await inbox.page.getByRole("heading", { name: "What led here" }).waitFor();
    await shoot(inbox.page, "restart-offline");
    await room.restart();
    for (const { page } of [talk, inbox, asked]) await offline(page).waitFor({ state: "hidden" });

    const transcript = talk.page.getByRole("log", { name: "Transcript" });
    await transcript.getByText("word79").waitFor();
    await talk.page.getByRole("button", { name: "Send" }).waitFor();
    const said = await transcript.textContent();
    expect(times(said, STORY)).toBe(1);
    expect(times(said, "word79")).toBe(1);
    await shoot(talk.page, "restart-recovered");

    expect(inbox.page.url()).toBe(address);
    await inbox.page.getByRole("button", { name: "Approve restart_service" }).click();
    await inbox.page.getByRole("status").filter({ hasText: "Decided by you: approved" }).waitFor();
    const answered = asked.page.getByRole("log", { name: "Transcript" });
    await answered.getByText("It runs again.").waitFor();
    const whole = await answered.textContent();
    for (const part of ["Restart payments", "I restart it if I may.", "It runs again."])
      expect(times(whole, part)).toBe(1);
    await vi.waitFor(async () => {
      const { items } = await client.listRuns({});
      expect(items.map(({ status }) => status)).toEqual(["completed", "completed"]);
    }, PATIENT);

    // The same after loading it anew.
    await asked.page.reload();
    await answered.getByText("It runs again.").waitFor();
    expect(times(await answered.textContent(), "It runs again.")).toBe(1);
  });
});
