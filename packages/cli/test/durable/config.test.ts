import { describe, expect, test } from "vitest";
import { cli, type StartOptions, temporaryFile } from "../support/cli.ts";
import { project } from "../support/project.ts";

describe("trackside.config.ts", () => {
  const refused = async (config: string | null, args = ["runs"], options: StartOptions = {}) => {
    const { code, stdout, stderr } = await project(config).cli(args, options);
    expect(stdout).toBe("");
    expect(stderr).not.toContain("node:internal");
    expect(code).toBe(2);
    return stderr;
  };

  test("that is missing: what it is and what to write", async () => {
    const told = await refused(null);
    expect(told).toMatch(
      /^There is no trackside\.config\.ts in \/.* or in a folder above it\. It exports a configuration:/,
    );
    expect(told).toContain(
      'export default defineConfig({ store: sqlite("trackside.db"), agents: [agent] });',
    );
  });

  test("that exports something else, or the right thing under another name", async () => {
    expect(await refused("export default { store: 1 };")).toContain(
      "trackside.config.ts exports no configuration as default, only `default` (an object).",
    );
    expect(await refused("export const a = { engine: 1, runs: 1, approvals: 1, open() {} };")).toContain(
      "exports its configuration as `a`; make it the default export",
    );
  });

  test("that throws, with the line", async () => {
    expect(await refused("\nnull.boom;\n", ["runs"], { process: true })).toMatch(
      /trackside\.config\.ts does not load\.\n\nTypeError: Cannot read.*\n {4}at trackside\.config\.ts:2:6/,
    );
  });

  test("that --config names and is not there", async () => {
    expect(await refused(null, ["runs", "--config", "other.ts"])).toContain("There is no file other.ts");
  });

  test("is found from a folder below, and its store is the same one there", async () => {
    const place = project();
    const id = await place.queue("greeter");
    place.write("deep/down/file.txt", "");
    const { code, stdout } = await cli(["runs"], { cwd: `${place.folder}/deep/down`, process: true });
    expect(stdout).toContain(id);
    expect(code).toBe(0);
  });

  test("what it prints does not end up between lines of JSON", async () => {
    const place = project();
    const noisy = `console.log("a config that prints");\nexport { default } from "./trackside.config.ts";\n`;
    place.write("noisy.ts", noisy);
    const id = await place.queue("greeter");
    const lines = await place.json("runs", "--config", "noisy.ts");
    expect(lines.map((run) => run["id"])).toEqual([id]);
  });
});

describe("an agent of the config", () => {
  test("runs durably by its name; what is wrong is said", async () => {
    const place = project();
    const { code, stdout } = await place.cli(["run", "greeter", "hi"]);
    expect(stdout).toMatch(
      /^greeter on scripted:scripted, in sqlite trackside\.db\nrun_\S+\n\nstep 1\n {2}Hello there\.\n/,
    );
    expect(code).toBe(0);
    const [run] = await place.json("runs");
    expect(stdout).toContain(run?.["id"]);
    expect(run).toMatchObject({ agent: "greeter", status: "completed" });

    const near = await place.cli(["run", "greter", "hi"]);
    expect(near.stderr).toContain("the config has no agent of that name. Did you mean greeter?");
    expect(near.code).toBe(2);
    const model = await place.cli(["run", "greeter", "hi", "--model", "openai:x"]);
    expect(model.stderr).toContain("--model is for a file");
    expect(model.code).toBe(2);
  });

  test("a file stays a file, and takes no options of a store", async () => {
    const file = temporaryFile("agent.ts", "");
    const { code, stderr } = await project().cli(["run", file, "hi", "--queue"]);
    expect(stderr).toContain("--queue is for an agent of trackside.config.ts");
    expect(code).toBe(2);
  });

  test("without a terminal what needs an approval waits for it, wherever it is decided", async () => {
    const place = project();
    const running = place.start(["run", "clerk", "go"]);
    const told = await running.see(/decide: trackside approvals approve \S+\n/);
    await place.cli(["approvals", "approve", told.trim().split(" ").at(-1) ?? "", "--by", "ann"]);
    const { code, stdout } = await running.ended;
    expect(stdout).toContain("◆ waits for a decision · 1.1 pay");
    expect(stdout).toContain("◆ 1.1 pay approved by ann");
    expect(place.ledger()).toEqual(["paid 3 to Ann"]);
    expect(code).toBe(0);
  });

  test("a chat goes on with a conversation, in another process", async () => {
    const place = project();
    const first = await place.cli(["chat", "greeter"], { input: "one\n" });
    expect(first.code).toBe(0);
    const [conversation] = await place.json("conversations");
    const id = String(conversation?.["id"]);
    const second = await place.cli(["chat", "greeter", "--conversation", id.slice(-8)], {
      input: "two\n/new\nthree\n",
    });
    expect(second.code).toBe(0);
    const { stdout } = await place.cli(["conversations", "show", id]);
    expect(stdout).toMatch(/user\n {2}one\n.*assistant\n {2}Hello there\.\n.*user\n {2}two\n/s);
    expect(stdout).not.toContain("three");
    expect(await place.json("conversations")).toHaveLength(2);
  });
});
