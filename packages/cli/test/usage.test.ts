import { describe, expect, test } from "vitest";
import { cli, fixture, temporaryFile } from "./support/cli.ts";

describe("trackside", () => {
  test("--help lists the commands and what exit codes mean", async () => {
    const { code, stdout } = await cli(["--help"]);
    for (const text of ["trackside start", "trackside run", "trackside chat", "Exit codes", "130"])
      expect(stdout).toContain(text);
    expect(code).toBe(0);
  });

  test.each(["start", "run", "chat"])("%s --help shows its options", async (name) => {
    const { code, stdout } = await cli([name, "--help"]);
    expect(stdout).toContain(`trackside ${name}`);
    expect(stdout).toContain("--model provider:name");
    expect(code).toBe(0);
  });

  test.each([
    ["worker"],
    ["runs", "list", "show", "tail", "cancel", "resume", "retry", "export"],
    ["approvals", "list", "show", "approve", "reject", "answer", "rules"],
    ["conversations", "list", "show", "export", "import", "delete"],
    ["agents", "list", "export", "import", "validate", "versions", "diff", "restore", "delete"],
    ["audit", "list", "verify"],
    ["dev"],
    ["doctor"],
  ])("%s and its commands have a --help with options, exit codes and examples", async (name, ...more) => {
    for (const args of [[name], ...more.map((one) => [name, one])]) {
      const { code, stdout } = await cli([...args, "--help"]);
      expect(stdout).toContain(`trackside ${name}`);
      for (const text of ["--help", "Exit codes", `Examples\n  `]) expect(stdout).toContain(text);
      for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(120);
      expect(code).toBe(0);
    }
  });

  test("--version prints the version", async () => {
    const { code, stdout } = await cli(["--version"], { process: true });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(code).toBe(0);
  });

  test.each<[string, string[], string]>([
    ["no command", [], "trackside run agent.ts"],
    ["a command with a typo", ["strat"], 'There is no command "strat". Did you mean start?'],
    [
      "a command like no other",
      ["deploy"],
      "Known: start, dev, run, chat, worker, runs, approvals, conversations, agents, schedules, workflows, audit, doctor.",
    ],
    ["a command named as what every object has", ["constructor"], 'There is no command "constructor".'],
    ["an option with a typo", ["run", "--modle", "x"], "Unknown option --modle. Did you mean --model?"],
    ["no agent", ["run"], "Which agent?"],
    [
      "an input without quotes",
      ["run", fixture("memory"), "do", "this"],
      'Put the input in quotes: "do this"',
    ],
    ["an unknown provider", ["run", fixture("memory"), "x", "--model", "acme:1"], 'unknown provider "acme"'],
    ["tools beside code", ["run", fixture("memory"), "x", "--tools", fixture("tools")], "--tools is for"],
    ["something after start", ["start", "agent.ts"], "trackside run agent.ts"],
  ])("%s is a usage error, exit code 2", async (_, args, message) => {
    const { code, stdout, stderr } = await cli(args);
    expect(stderr).toContain(message);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });
});

describe("an agent that does not load", () => {
  const load = async (path: string, ...more: string[]) => {
    const { code, stdout, stderr } = await cli(["run", path, "go", "--json", ...more]);
    expect(stdout).toBe("");
    expect(stderr).not.toContain("node:internal");
    expect(code).toBe(2);
    return stderr;
  };

  test("because there is no such file", async () => {
    expect(await load("nowhere/agent.ts")).toMatch(/^There is no file nowhere\/agent\.ts, looked for at \//);
  });

  test("because it is of another kind", async () => {
    expect(await load(temporaryFile("agent.py", ""))).toContain("should end in .ts,");
    expect(await load(".")).toContain(". is not a file.");
  });

  test.each(["agent.ts", "agent.mjs"])("because of a syntax error in %s, with its place", async (name) => {
    const path = temporaryFile(name, "export const a = 1;\nexport default { a b };\n");
    const told = await load(path);
    expect(told).toContain(`${path}:2\n`);
    expect(told).toMatch(/\nexport default { a b };\n +\^\nSyntaxError: /);
  });

  test("because it uses TypeScript that cannot be erased", async () => {
    expect(await load(temporaryFile("agent.ts", "export enum A { B }\n"))).toContain(
      "enums, namespaces and parameter properties cannot be used",
    );
  });

  test("because a package is missing, with the command that installs it", async () => {
    const path = temporaryFile("agent.ts", 'import "@acme/missing/sub";\n');
    expect(await load(path)).toContain("Run: npm install @acme/missing");
  });

  test("because it throws, with the line", async () => {
    const path = temporaryFile("agent.ts", "\nnull.boom;\nexport default 1 as number;\n");
    expect(await load(path)).toMatch(/TypeError: Cannot read properties of null.*\n {4}at \S+agent\.ts:2:6/);
  });

  test("because it exports no Agent, saying what it exports", async () => {
    const path = temporaryFile(
      "agent.mjs",
      "export default () => {}; export const tools = [1, 2]; export class A {}",
    );
    expect(await load(path)).toMatch(
      /exports no Agent, only `A` \(a function\), `default` \(a function\), `tools` \(a list of 2\)\. Write `export default new Agent/,
    );
    expect(await load(temporaryFile("agent.mjs", "1;"))).toContain("exports no Agent, nor anything else.");
  });

  test("because its config is wrong: every problem on a line of its own (A3)", async () => {
    const told = await load(fixture("wrong"));
    expect(told.split("\n").filter((line) => line.startsWith("  - "))).toHaveLength(3);
    expect(told).toContain("maxSteps:");
    expect(told).toContain('"acme:gpt" given');
  });

  test("because its definition is wrong: every problem on a line of its own (A3)", async () => {
    const path = temporaryFile(
      "agent.json",
      JSON.stringify({ name: "a", model: "acme:1", tools: ["ping"], maxsteps: 1 }),
    );
    const told = await load(path);
    expect(told.split("\n").filter((line) => line.startsWith("  - "))).toHaveLength(3);
    expect(told).toContain("did you mean `max_steps`?");
  });

  test("because its definition is not JSON, with the place", async () => {
    expect(await load(temporaryFile("agent.json", '{\n  "name": oops\n}'))).toMatch(
      /is not valid JSON at line 2, column 11: /,
    );
    expect(await load(temporaryFile("agent.json", "[]"))).toContain("it holds a list of 0");
  });

  test("because the file of its tools has none", async () => {
    const tools = temporaryFile("tools.mjs", "export const ping = 1;");
    expect(await load(fixture("pinger"), "--tools", tools)).toContain(
      "exports no tools, only `ping` (a number)",
    );
  });
});
