import { describe, expect, test } from "vitest";
import { workflowTemplates } from "../../server/src/workflow-templates/index.ts";
import { configOf, project } from "./support/project.ts";

const CONFIG = configOf("workflows");
const DEPLOY = workflowTemplates.find(({ id }) => id === "deploy-with-approval")?.definition ?? {};
const MINE = { ...DEPLOY, name: "mine" };
const INPUT = '{"service": "checkout", "version": "2.14"}';

describe("trackside workflows", () => {
  test("W4 a definition goes in and comes out the same, is listed, shown and checked", async () => {
    const place = project(CONFIG);
    place.write("mine.json", JSON.stringify(MINE));
    const { stdout: imported } = await place.cli(["workflows", "import", "mine.json"]);
    expect(imported).toBe("mine, version 1\n");
    const { stdout: exported } = await place.cli(["workflows", "export", "mine"]);
    expect(JSON.parse(exported)).toMatchObject(MINE);
    const { stdout: listed } = await place.cli(["workflows"]);
    expect(listed).toMatch(/^WORKFLOW +VERSION +NODES .*\n/);
    expect(listed).toMatch(/\nmine +1 +8 .*the store/);
    expect(listed).toMatch(/\ngreeting +1 .*the config/);
    const { stdout: shown } = await place.cli(["workflows", "show", "mine"]);
    expect(shown).toMatch(/ask +approval +Deploy \{\{ input.service \}\}.* +deploy, held \(rejected\)/);
    expect(shown).toMatch(/input +service, version/);
  });

  test("W4 validate says everything that is wrong, and exits with 1", async () => {
    const place = project(CONFIG);
    const nodes = { a: { kind: "tool", tool: "nope" }, b: { kind: "agent", agent: "nobody", prompt: "x" } };
    place.write(
      "wrong.json",
      JSON.stringify({ name: "x", nodes, edges: [{ from: "a", to: "c" }], extra: 1 }),
    );
    const { stdout, code } = await place.cli(["workflows", "validate", "wrong.json"]);
    for (const path of ["nodes.a.tool", "nodes.b.agent", "edges[0].to", "extra"])
      expect(stdout).toContain(`- ${path}`);
    expect(code).toBe(1);
  });

  test("W4 run shows nodes as they come and go, and all of them as a tree", async () => {
    const place = project(CONFIG);
    place.write("input.json", INPUT);
    const run = ["workflows", "run", "deploy-with-approval", "--input", "@input.json", "--approve", "all"];
    const { stdout, stderr, code } = await place.cli(run);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout).toContain("▸ check · tool\n");
    expect(stdout).toContain('→ check check_service {"service": "checkout"}\n');
    expect(stdout).toMatch(/✓ passed · true · \d/);
    expect(stdout).toContain('– unready skipped · "passed" went true\n');
    expect(stdout).toContain("Deploy checkout 2.14 to production?");
    expect(stdout).toMatch(/◆ ask approved by --approve all/);
    expect(stdout).toContain("┌ watch\n");
    expect(stdout).not.toContain("sub-agent");
    const tree = stdout.slice(stdout.lastIndexOf("● done")).split("\n").slice(1);
    expect(tree.map((line) => line.trim().split(/\s+/).slice(0, 3).join(" ")).filter(Boolean)).toEqual([
      "✓ check tool",
      "✓ check_payments tool",
      "✓ passed condition",
      "– unready tool",
      "✓ ask approval",
      "– held agent",
      "✓ deploy tool",
      "✓ watch agent",
    ]);
  });

  test("W5 with nobody there it rejects, and goes on by the edge for that; events are lines of JSON", async () => {
    const place = project(CONFIG);
    const run = ["workflows", "run", "deploy-with-approval", "--input", INPUT, "--approve", "none"];
    const events = await place.json(...run);
    const nodes = events.filter(({ type, path }) => type === "node" && String(path) === "");
    const ends = nodes
      .filter(({ state }) => state !== "started")
      .map(({ node, state, port }) => `${node} ${port ?? state}`);
    expect(ends).toEqual(expect.arrayContaining(["ask rejected", "deploy skipped", "held completed"]));
    expect(events.at(-1)).toMatchObject({ type: "status", status: "completed" });
  });

  test("one in code runs by its name; what does not fit is told with its path, and nothing is run", async () => {
    const place = project(CONFIG);
    const greeted = await place.cli(["workflows", "run", "greeting", "--input", '{"who": "Ann"}']);
    expect(greeted.stdout).toContain('\n  {"greet": "Hello Ann"}\n');
    expect(greeted.code).toBe(0);
    const wrong = await place.cli(["workflows", "run", "greeting", "--input", '{"who": 7}']);
    expect(wrong.stderr).toContain("input.who");
    expect(wrong.code).toBe(2);
    const queued = await place.cli(["workflows", "run", "greeting", "--input", '{"who": "Bob"}', "--queue"]);
    expect(queued.stdout).toMatch(/^run_\w+\n$/);
  });

  test("Ctrl-C stops the run cleanly", async () => {
    const place = project(CONFIG);
    const running = place.start(["workflows", "run", "slow"]);
    await running.see("→ rest sleep");
    running.signal("SIGINT");
    const { stdout, code } = await running.ended;
    expect(code).toBe(130);
    expect(stdout).toContain("■ stopped · Ctrl-C");
    expect(await place.json("runs")).toMatchObject([{ status: "cancelled", kind: "workflow" }]);
  });

  test.each([
    [["workflows", "run"], "Which workflow?"],
    [
      ["workflows", "run", "nothing"],
      'There is no workflow "nothing". Known: "greeting", "slow", "deploy-with-approval"',
    ],
    [["workflows", "run", "greeting", "--input", "{nope"], "--input is not JSON"],
    [["workflows", "run", "greeting", "--input", "@none.json"], "none.json cannot be read"],
    [["workflows", "lst"], "Did you mean list?"],
  ])("%j is refused with what to do", async (args, message) => {
    const { stderr, code } = await project(CONFIG).cli(args);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });
});

describe("on a terminal", () => {
  test("W5 an approval node is asked about, with what it shows, and the run goes on", async () => {
    const place = project(CONFIG);
    const screen = place.terminal(["workflows", "run", "deploy-with-approval", "--input", INPUT]);
    await screen.see("◆ waiting for you · ask\n");
    await screen.see("shown with it\n");
    await screen.see("a  approve  goes on after ask\n");
    await screen.see(/ask · a, r or \? · (24 h 0 min|23 h 59 min) left › /);
    screen.type("r not today\r");
    await screen.see("◆ ask rejected by you\n");
    await screen.see("● done");
    expect((await screen.ended).code).toBe(0);
  });
});
