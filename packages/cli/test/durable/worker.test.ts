import { describe, expect, test } from "vitest";
import { project, until } from "../support/project.ts";

describe("trackside worker", () => {
  test("X11 takes up queued runs and says so; SIGTERM leaves runs where they are and exits with 0", async () => {
    const place = project();
    const greeting = await place.queue("greeter");
    const counting = await place.queue("counter");
    const worker = place.worker();
    await worker.said("started", counting);
    expect(await worker.said("ended", greeting)).toMatchObject({ agent: "greeter", status: "completed" });
    await until(() => (place.ledger().length > 0 ? true : undefined));
    worker.signal("SIGTERM");
    expect(await worker.said("stopped")).toMatchObject({ left: 1 });
    expect((await worker.ended).code).toBe(0);
    const [run] = await place.json("runs", "--agent", "counter");
    expect(run).toMatchObject({ id: counting, status: "running" });
  });

  test("X2 killed in the middle of a run, a second worker finishes it", async () => {
    const place = project();
    const id = await place.queue("counter");
    const first = place.worker([], { process: true });
    await first.said("started", id);
    await until(() => (place.ledger().length > 0 ? true : undefined));
    first.signal("SIGKILL");
    await first.ended;
    place.write("go.txt", "");
    const second = place.worker();
    await second.said("taken_up", id);
    expect(await second.said("ended", id)).toMatchObject({ status: "completed" });
    const { code, stdout } = await place.cli(["runs", "show", id.slice(-8)]);
    expect(stdout).toContain("✓ 1.1 count");
    expect(stdout).toMatch(/I read .*42/);
    expect(code).toBe(0);
    expect(place.ledger()).toEqual(["counting", "counting"]);
  });

  test("X3 killed while something runs that may run once only, it asks; the answer is given on the command line", async () => {
    const place = project();
    const id = await place.queue("charger");
    const first = place.worker([], { process: true });
    await first.said("started", id);
    await until(() => (place.ledger().length > 0 ? true : undefined));
    first.signal("SIGKILL");
    await first.ended;
    const second = place.worker();
    await second.said("taken_up", id);
    const waiting = await until(async () => (await place.json("approvals", "list"))[0]);
    expect(waiting).toMatchObject({ kind: "unknown_outcome", tool: "charge" });
    const short = `${id.slice(-8)}.main.1.0`;
    const wrong = await place.cli(["approvals", "approve", short]);
    expect(wrong.stderr).toContain("takes ran, run, give_up, not approve");
    expect(wrong.code).toBe(2);
    const bare = await place.cli(["approvals", "answer", short, "--choice", "ran"]);
    expect(bare.stderr).toContain("needs the result");
    const answered = await place.cli([
      "approvals",
      "answer",
      short,
      "--choice",
      "ran",
      "--response",
      "it was charged",
      "--by",
      "ann",
    ]);
    expect(answered.stdout).toContain("charge answered by ann");
    expect(answered.code).toBe(0);
    await second.said("ended", id);
    expect(place.ledger()).toEqual(["charging"]);
    const { stdout } = await place.cli(["runs", "show", id]);
    expect(stdout).toContain("charge may have run; somebody has to say");
    expect(stdout).toMatch(/I read .*it was charged/);
  });

  test("a second signal exits at once", async () => {
    const place = project();
    const worker = place.worker([], { process: true });
    await worker.said("ready");
    worker.signal("SIGINT");
    worker.signal("SIGINT");
    expect((await worker.ended).code).toBe(0);
  });
});
