import { describe, expect, test } from "vitest";
import { project, until } from "../support/project.ts";

describe("trackside runs", () => {
  test("lists, shows, exports and retries; the end of an id is enough", async () => {
    const place = project();
    expect((await place.cli(["runs"])).stdout).toBe("There are no such runs.\n");
    await place.cli(["run", "greeter", "hi"]);
    const id = await place.queue("greeter");
    const all = await place.cli(["runs"]);
    expect(all.stdout).toMatch(/^RUN +STATUS +AGENT +STARTED +TOOK +STEPS +TOKENS +WHY\n/);
    expect(all.stdout).toMatch(
      /run_\S+ {2}○ queued +greeter .*\nrun_\S+ {2}● completed +greeter .* answered\n$/,
    );
    expect(await place.json("runs", "--status", "queued")).toMatchObject([{ id }]);
    expect(await place.json("runs", "--limit", "1", "--agent", "greeter")).toHaveLength(1);
    expect(await place.json("runs", "--agent", "nobody")).toEqual([]);

    const [done] = await place.json("runs", "--status", "completed,error");
    const short = String(done?.["id"]).slice(-8);
    const shown = await place.cli(["runs", "show", short]);
    expect(shown.stdout).toContain(
      `${done?.["id"]}\n  agent         greeter\n  status        ● completed · answered\n`,
    );
    expect(shown.stdout).toMatch(
      /› hi\n.*step 1\n.*tokens in.*\n.*Hello there\.\n.*● done · answered · 1 step/s,
    );
    const exported = await place.cli(["runs", "export", short]);
    expect(JSON.parse(exported.stdout)).toMatchObject({ v: 1, run: { id: done?.["id"] }, approvals: [] });
    const again = await place.cli(["runs", "retry", short, "--from-step", "1"]);
    expect(again.stdout).toMatch(/^run_\S+\n/);
    const far = await place.cli(["runs", "retry", short, "--from-step", "9"]);
    expect(far.stderr).toContain("fromStep: 1 to 1 expected, 9 given");
    const resumed = await place.cli(["runs", "resume", short]);
    expect(resumed.stderr).toContain("is completed, not parked");
    expect([far.code, resumed.code]).toEqual([2, 2]);
  });

  test("what is wrong is said, exit code 2", async () => {
    const place = project();
    const refused: [string[], string][] = [
      [["runs", "show", "zzzzzz"], 'There is no run "zzzzzz". trackside runs lists them.'],
      [["runs", "show"], "Which run?"],
      [["runs", "sohw"], 'runs has no command "sohw". Did you mean show?'],
      [["runs", "--status", "don"], '--status: "don" is none of queued,'],
      [["runs", "--limit", "0"], "--limit: a whole number from 1 to 1000 expected"],
      [["runs", "show", "a", "b"], '"b" is too much. Write: trackside runs show <id>'],
      [["runs", "tail", "abcd", "--after", "x"], "--after: the number of an event or a cursor expected"],
    ];
    for (const [args, message] of refused) {
      const { code, stdout, stderr } = await place.cli(args);
      expect(stderr).toContain(message);
      expect(stdout).toBe("");
      expect(code).toBe(2);
    }
  });

  test("E4 tail leaves at Ctrl-C without cancelling, and goes on from its cursor", async () => {
    const place = project();
    const id = await place.queue("counter");
    const worker = place.worker();
    await worker.said("started", id);
    const tail = place.start(["runs", "tail", id]);
    await tail.see("→ 1.1 count");
    tail.signal("SIGINT");
    const first = await tail.ended;
    expect(first.stdout).toMatch(
      /Left\. The run goes on\. Back to it: trackside runs tail \S+ --after (\d+)\n$/,
    );
    expect(first.code).toBe(130);
    const after = /--after (\S+)\n$/.exec(first.stdout)?.[1] ?? "";
    const rest = place.cli(["runs", "tail", id, "--after", after, "--json"]);
    place.write("go.txt", "");
    const { code, stdout } = await rest;
    expect(code).toBe(0);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines[0].event.seq).toBe(Number(after) + 1);
    expect(lines.at(-1).event).toMatchObject({ type: "status", status: "completed" });
    expect(place.ledger()).toEqual(["counting"]);
  });

  test("X5 cancel stops a run in another process; with none at work it says when it ends", async () => {
    const place = project();
    const queued = await place.queue("greeter");
    const marked = await place.cli(["runs", "cancel", queued, "--reason", "not needed"]);
    expect(marked.stdout).toContain("no process works on it now, so it ends once a worker is up");
    const id = await place.queue("counter");
    const worker = place.worker();
    await worker.said("started", id);
    await until(() => (place.ledger().length > 0 ? true : undefined));
    const stopped = await place.cli(["runs", "cancel", id]);
    expect(stopped.stdout).toMatch(/ is over · ■ cancelled · cancelled by \S+\n$/);
    expect(stopped.code).toBe(0);
    await worker.said("ended", queued);
    const [first] = await place.json("runs", "--agent", "greeter");
    expect(first).toMatchObject({ status: "cancelled", outcome: { reason: "not needed" } });
    const again = await place.cli(["runs", "cancel", id]);
    expect(again.stdout).toContain("was over already");
  });

  test("X2 a run whose agent lost a tool is parked and says so; put right and resumed, it goes on", async () => {
    const place = project();
    const id = await place.queue("clerk");
    const first = place.worker();
    await first.said("started", id);
    await until(async () => (await place.json("approvals"))[0]);
    first.signal("SIGTERM");
    await first.ended;
    const changed = `import { Agent, scriptedModel, sqlite, Trackside } from ${JSON.stringify(import.meta.resolve("../fixtures/durable.ts"))};
      const clerk = new Agent({ name: "clerk", model: scriptedModel(["Hi."]) });
      export default new Trackside({ store: sqlite("trackside.db"), agents: [clerk] });`;
    place.write("changed.ts", changed);
    const wrong = place.worker(["--config", "changed.ts"]);
    await wrong.said("parked", id);
    wrong.signal("SIGTERM");
    await wrong.ended;
    const shown = await place.cli(["runs", "show", id]);
    expect(shown.stdout).toContain("! parked");
    expect(shown.stdout).toContain(`trackside runs resume ${id.slice(-8)}`);
    const followed = await place.cli(["runs", "tail", id]);
    expect(followed.stdout).toContain("It stays so until somebody acts: trackside runs resume");
    expect(followed.code).toBe(1);

    expect((await place.cli(["runs", "resume", id])).stdout).toContain("goes on in the next worker");
    await place.cli(["approvals", "approve", `${id.slice(-8)}.main.1.0`]);
    const right = place.worker();
    expect(await right.said("ended", id)).toMatchObject({ status: "completed" });
    expect(place.ledger()).toEqual(["paid 3 to Ann"]);
  });
});
