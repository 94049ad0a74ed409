import { describe, expect, onTestFinished, test, vi } from "vitest";
import { plain } from "../support/heard.ts";
import { project, until } from "../support/project.ts";

describe("on a terminal, with a store", () => {
  test("approvals asks about one after the other; what is decided elsewhere is taken back", async () => {
    const place = project();
    const runs = [await place.queue("clerk"), await place.queue("clerk"), await place.queue("clerk")];
    const worker = place.worker();
    const waiting = await until(async () => {
      const found = await place.json("approvals", "list");
      return found.length === 3 ? found : undefined;
    });
    const screen = place.terminal(["approvals", "--by", "ann"]);
    await screen.see("◆ waiting for you · 1 of 3 · pay\n");
    await screen.see(/ {2}in run \S+, asked .*\n/);
    await screen.see('    {"to": "Ann", "amount": 3}\n');
    await screen.see(/pay · a, r, e, l or \? · 1 of 3 · (60|59) min left › /);
    screen.type("e\r");
    await screen.see("arguments › ");
    screen.type('\x15{"to": "Bob", "amount": 1}\r');
    await screen.see('+ to: "Bob"');
    await screen.see(/(60|59) min left › /);
    screen.type("a\r");
    await screen.see("◆ pay approved by ann\n");
    await screen.see("◆ waiting for you · 2 of 3 · pay\n");
    await screen.see(/(60|59) min left › /);
    await place.cli(["approvals", "reject", String(waiting[1]?.["id"]), "--by", "bob"]);
    await screen.see("◆ pay rejected by bob, elsewhere\n");
    await screen.see("◆ waiting for you · 3 of 3 · pay\n");
    await screen.see(/(60|59) min left › /);
    screen.type("l\r");
    await screen.see("1 approval waits.\n");
    expect((await screen.ended).code).toBe(0);
    await worker.said("ended", runs[0]);
    await worker.said("ended", runs[1]);
    expect(place.ledger()).toEqual(["paid 1 to Bob"]);
  });

  test("run asks you, and the record says who you are; runs has colours", async () => {
    const place = project();
    const screen = place.terminal(["run", "clerk", "go"]);
    await screen.see(/a, r, e or \? · (60|59) min left › /);
    screen.type("a\r");
    await screen.see("◆ 1.1 pay approved by you\n");
    await screen.see("● done");
    expect((await screen.ended).code).toBe(0);
    const [approval] = await place.json("approvals", "list", "--state", "approved");
    expect(approval).toMatchObject({ decision: { by: expect.not.stringMatching(/^terminal$/) } });
    vi.setSystemTime(Date.now() + 5_000); // it was "just now"
    onTestFinished(() => void vi.useRealTimers());
    const list = place.terminal(["runs"]);
    expect((await list.ended).code).toBe(0);
    expect(list.stdout).toContain("\x1b[32m● completed\x1b[39m");
    expect(plain(list.stdout)).toMatch(/^RUN +STATUS.*\n[a-z0-9]{8} {2}● completed {2}clerk {2}\S.* ago /);
  });

  test("X3 a call whose outcome is unknown is asked about, and a person writes what came of it", async () => {
    const place = project();
    const id = await place.queue("charger");
    const first = place.worker([], { process: true });
    await until(() => (place.ledger().length > 0 ? true : undefined));
    first.signal("SIGKILL");
    await first.ended;
    const second = place.worker();
    await until(async () => (await place.json("approvals"))[0]);
    const screen = place.terminal(["approvals"]);
    await screen.see("◆ waiting for you · charge\n");
    await screen.see("i  it ran   you know that it ran, and write its result for the model\n");
    await screen.see("n  not run  you know that it did not run: runs charge now\n");
    await screen.see("g  give up  runs nothing; the model reads that it is not known\n");
    await screen.see(/charge · i, n, g, l or \? · (60|59) min left › /);
    screen.type("i\r");
    await screen.see("result › ");
    screen.type("charged by hand\r");
    await screen.see("◆ charge answered by ");
    await screen.see("Nothing waits for a decision.");
    expect((await screen.ended).code).toBe(0);
    await second.said("ended", id);
    expect(place.ledger()).toEqual(["charging"]);
    expect((await place.cli(["runs", "show", id])).stdout).toMatch(/I read .*charged by hand/);
  });

  test("delete asks first", async () => {
    const place = project();
    await place.cli(["run", "greeter", "hi"]);
    const [one] = await place.json("conversations");
    const id = String(one?.["id"]);
    const no = place.terminal(["conversations", "delete", id]);
    await no.see(`Erase ${id} (greeter, 2 messages)? It cannot be undone.\n`);
    await no.see("yes or no › ");
    no.type("\r");
    await no.see("Nothing was deleted.");
    expect((await no.ended).code).toBe(0);
    const yes = place.terminal(["conversations", "delete", id]);
    await yes.see("yes or no › ");
    yes.type("yes\r");
    await yes.see("is erased.");
    expect((await yes.ended).code).toBe(0);
    expect(await place.json("conversations")).toEqual([]);
  });
});
