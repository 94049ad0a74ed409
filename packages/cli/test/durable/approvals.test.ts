import { describe, expect, test } from "vitest";
import { type Project, project, until } from "../support/project.ts";

/** A run that waits for an approval, and no worker that is up. */
async function waiting(agent = "clerk"): Promise<{ place: Project; run: string; id: string }> {
  const place = project();
  const run = await place.queue(agent);
  const worker = place.worker();
  await worker.said("started", run);
  const approval = await until(async () => (await place.json("approvals", "list"))[0]);
  worker.signal("SIGTERM");
  await worker.ended;
  return { place, run, id: String(approval["id"]) };
}

async function finish(place: Project, run: string): Promise<void> {
  const worker = place.worker();
  await worker.said("ended", run);
  worker.signal("SIGTERM");
  await worker.ended;
}

describe("trackside approvals", () => {
  test("L4 decided while no worker is up: it runs once, with what was edited, when one is", async () => {
    const { place, run, id } = await waiting();
    const listed = await place.cli(["approvals"]);
    expect(listed.stdout).toContain(`◆ ${id}  pay {"to": "Ann", "amount": 3}\n`);
    expect(listed.stdout).toMatch(
      /asked by clerk, \d{4}-.*Z, run run_\S+ · \d+ min left\n {4}pay is in hitl_tools\n/,
    );

    const short = `${run.slice(-8)}.main.1.0`;
    const broken = await place.cli(["approvals", "approve", short, "--edit", "-"], { input: '{"to": "Bob"' });
    expect(broken.stderr).toContain("--edit: stdin: this is not valid JSON");
    const unfit = await place.cli(["approvals", "approve", short, "--edit", "-"], { input: '{"to": "Bob"}' });
    expect(unfit.stderr).toContain("amount");
    const nowhere = await place.cli(["approvals", "approve", short, "--edit", "no.json"]);
    expect(nowhere.stderr).toContain("--edit: no.json cannot be read");
    expect([broken.code, unfit.code, nowhere.code]).toEqual([2, 2, 2]);
    expect(await place.json("approvals")).toHaveLength(1);

    place.write("edit.json", '{"to": "Bob", "amount": 2}');
    const decided = await place.cli([
      "approvals",
      "approve",
      short,
      "--edit",
      "edit.json",
      "--by",
      "ann",
      "--reason",
      "less",
    ]);
    expect(decided.stdout).toBe(`◆ ${short} pay approved by ann\n`);
    expect(place.ledger()).toEqual([]);
    await finish(place, run);
    expect(place.ledger()).toEqual(["paid 2 to Bob"]);
    const { stdout } = await place.cli(["runs", "show", run]);
    expect(stdout).toMatch(/◆ 1\.1 pay approved by ann · after .*\n +less\n +- to: "Ann"\n +\+ to: "Bob"\n/);
  });

  test("L4 two terminals at once: one decides, the other is told who was first", async () => {
    const { place, run, id } = await waiting();
    const [ann, bob] = await Promise.all([
      place.cli(["approvals", "approve", id, "--by", "ann"]),
      place.cli(["approvals", "approve", id, "--by", "bob"]),
    ]);
    expect([ann.code, bob.code]).toEqual([0, 0]);
    const late = [ann, bob].filter(({ stdout }) => stdout.includes("before; nothing was changed"));
    expect(late).toHaveLength(1);
    const winner = ann.stdout.includes("before") ? "bob" : "ann";
    expect(late[0]?.stdout).toContain(`approved by ${winner}`);
    const against = await place.cli(["approvals", "reject", id]);
    expect(against.stderr).toContain(`is closed: it was approved by ${winner}`);
    expect(against.code).toBe(1);
    await finish(place, run);
    expect(place.ledger()).toEqual(["paid 3 to Ann"]);
  });

  test("L2 rejected with a reason, which the model reads; who decides is the user unless said", async () => {
    const { place, run, id } = await waiting();
    const [record] = await place.json("approvals", "reject", id, "--reason", "not today");
    expect(record).toMatchObject({
      state: "rejected",
      decision: { reason: "not today", by: expect.stringMatching(/./) },
    });
    await finish(place, run);
    expect(place.ledger()).toEqual([]);
    const [shown] = await place.json("runs", "show", run);
    expect(JSON.stringify(shown?.["events"])).toContain("I read");
    const audit = await place.json("audit");
    expect(audit.map((row) => row["action"])).toEqual(["approval.decided"]);
  });

  test("L8 remembered: the next such call is decided by the rule, until it is revoked", async () => {
    const { place, run, id } = await waiting();
    const early = await place.cli(["approvals", "approve", id, "--until", "7d"]);
    expect(early.stderr).toContain("they go with --remember");
    const past = await place.cli(["approvals", "approve", id, "--remember", "--until", "2001-01-01"]);
    expect(past.stderr).toContain("--until: 2001-01-01 is in the past");
    const decided = await place.cli([
      "approvals",
      "approve",
      id,
      "--remember",
      "--until",
      "7d",
      "--match",
      "tool",
    ]);
    expect(decided.stdout).toContain("remembered as rule_");
    await finish(place, run);
    await finish(place, await place.queue("clerk"));
    expect(place.ledger()).toHaveLength(2);
    const [rule] = await place.json("approvals", "rules");
    expect(rule).toMatchObject({ tool: "pay", match: { kind: "tool" }, effect: "approve" });
    const revoked = await place.cli(["approvals", "rules", "revoke", String(rule?.["id"])]);
    expect(revoked.stdout).toContain("is revoked");
    expect((await place.cli(["approvals", "rules"])).stdout).toBe("No decision is remembered.\n");
  });

  test("what others wrote moves nothing on the screen, and an id nobody has is a usage error", async () => {
    const { place, id } = await waiting("forger");
    for (const args of [["approvals"], ["approvals", "show", id], ["runs", "show", id.split(".")[0] ?? ""]]) {
      const { code, stdout } = await place.cli(args);
      expect(code).toBe(0);
      expect(stdout).toContain("Ann\\u001b[2J");
      for (const moving of ["\x1b", "\x9b", "\u202e"]) expect(stdout).not.toContain(moving);
      expect(stdout).not.toMatch(/^◆ forged/m);
    }
    const wrong = await place.cli(["approvals", "approve", "nothing"]);
    expect(wrong.stderr).toBe('There is no approval "nothing". trackside approvals list lists them.\n');
    const short = await place.cli(["approvals", "approve", "1.0"]);
    expect(short.stderr).toContain("too short");
    const none = await place.cli(["approvals", "approve"]);
    expect(none.stderr).toContain("Which approval?");
    const asked = await place.cli(["approvals", "--interactive"]);
    expect(asked.stderr).toContain("there is no terminal to ask on");
    expect([wrong.code, short.code, none.code, asked.code]).toEqual([2, 2, 2, 2]);
  });
});
