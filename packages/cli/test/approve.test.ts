import { describe, expect, test } from "vitest";
import { cli, fixture, type StartOptions } from "./support/cli.ts";

interface Line {
  type?: string;
  approval_id?: string;
  state?: string;
  decided_by?: string;
  approval?: { id: string; arguments: unknown; response_schema: unknown };
  error?: { code: string; message: string };
  success?: boolean;
  metadata?: { approval_status: string };
  text?: string;
}

const linesOf = (text: string): Line[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("trackside run, where nobody can be asked", () => {
  test("rejects, says why to the model, and shows it (L2)", async () => {
    const { code, stdout, stderr } = await cli(["run", fixture("gated"), "one"]);
    expect(stdout).toContain("◆ needs approval · 1.1 deploy\n");
    expect(stdout).toContain("◆ 1.1 deploy rejected by --approve none\n");
    expect(stdout).toMatch(
      /✗ 1\.1 deploy not run · 0 ms\n {4}Not run: .*no one is there to approve \(use --approve\)/,
    );
    expect(stdout).toMatch(/ {2}I read .*no one is there to approve/);
    expect(stdout).not.toContain("deployed");
    expect(stderr).toBe("");
    expect(code).toBe(0);
  });

  test("--approve all approves everything, and shows each with its whole arguments", async () => {
    const { code, stdout } = await cli(["run", "--approve", "all", fixture("gated"), "two"]);
    expect(stdout.match(/^◆ needs approval · 1\.\d deploy$/gm)).toHaveLength(2);
    expect(stdout.match(/^◆ 1\.\d deploy approved by --approve all$/gm)).toHaveLength(2);
    expect(stdout).toMatch(
      /needs approval · 1\.2 deploy\n {2}arguments\n {4}\{"service": "search", "version": "v3"\}\n/,
    );
    expect(stdout).toContain('deployed {"service":"search","version":"v3"}');
    expect(code).toBe(0);
  });

  test("--approve all has no result to give for a client tool (T8)", async () => {
    const { code, stdout } = await cli(["run", "--approve", "all", fixture("gated"), "colour"]);
    expect(stdout).toContain("◆ 1.1 pick_colour rejected by --approve all\n");
    expect(stdout).toContain("no one is there to supply a result");
    expect(code).toBe(0);
  });

  test("--approve all with --json keeps stdout for events, and is loud on stderr", async () => {
    const { stdout, stderr } = await cli(["run", "--json", "--approve", "all", fixture("gated"), "one"]);
    const result = linesOf(stdout).find(({ type }) => type === "tool_result");
    expect(result).toMatchObject({ success: true, metadata: { approval_status: "approved" } });
    expect(stderr).toContain("◆ needs approval · 1.1 deploy\n");
  });

  test("escape sequences in arguments and reasons are neutralised", async () => {
    const { stdout } = await cli(["run", "--approve", "all", fixture("gated"), "hostile"]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that there are none is what is tested
    expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
    expect(stdout).toContain('"a\\u001b[2J\\u009b31m\\u202e\\u200bb\\n\n');
    for (const line of stdout.split("\n"))
      if (line.includes("forged")) expect(line).toMatch(/^( {2}|→ 1\.1 deploy )/);
  });

  test.each<[string, string[], string]>([
    [
      "an unknown word",
      ["--approve", "some", fixture("gated"), "one"],
      '--approve: "some" is none of ask, none, all, wait.',
    ],
    [
      "nobody to ask",
      ["--approve", "ask", fixture("gated"), "one"],
      "there is no terminal to ask on. With --json,",
    ],
    ["stdin taken", ["--json", "--approve", "ask", fixture("gated"), "-"], "stdin is the input"],
  ])("%s is a usage error", async (_, args, message) => {
    const { code, stdout, stderr } = await cli(["run", ...args]);
    expect(stderr).toContain(message);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });

  test("says plainly in its help what --approve all means", async () => {
    const { stdout } = await cli(["run", "--help"]);
    expect(stdout).toMatch(
      /--approve all +approves every one of them, unseen: whatever the agent asks for is done/,
    );
  });
});

describe("trackside chat, where nobody can be asked", () => {
  test("rejects, and takes every line for a message", async () => {
    const { code, stdout } = await cli(["chat", fixture("gated")], { input: "one\na\n" });
    expect(stdout).toContain("◆ 1.1 deploy rejected by --approve none\n");
    expect(stdout).toContain("› a\n");
    expect(code).toBe(0);
  });

  test("refuses --approve ask", async () => {
    const { code, stderr } = await cli(["chat", "--approve", "ask", fixture("gated")], { input: "one\n" });
    expect(stderr).toContain("the lines of stdin are messages");
    expect(code).toBe(2);
  });
});

/** Answers what waits with a line, made from the approval. */
const answering = (...answers: ((id: string) => string)[]): StartOptions => ({
  keepStdin: true,
  onErrorLine(line, running) {
    const { approval } = JSON.parse(line) as Line;
    if (approval) running.type(`${answers.shift()?.(approval.id) ?? ""}\n`);
  },
});
const decision = (fields: object) => (approval_id: string) => JSON.stringify({ approval_id, ...fields });

describe("trackside run --json --approve ask, decided by lines on stdin", () => {
  const run = async (message: string, options: StartOptions) => {
    const { code, stdout, stderr } = await cli(
      ["run", "--json", "--approve", "ask", fixture("gated"), message],
      options,
    );
    expect(code).toBe(0);
    const events = linesOf(stdout);
    const results = events.filter(({ type }) => type === "tool_result");
    return {
      events,
      results,
      reports: linesOf(stderr),
      text: events.findLast(({ type }) => type === "text")?.text,
    };
  };

  test("approves, and tells the whole arguments first", async () => {
    const { results, reports } = await run("one", answering(decision({ choice: "approve" })));
    expect(reports).toMatchObject([
      { state: "pending", approval: { arguments: { service: "checkout", version: "v12" } } },
      { state: "approved", decided_by: "stdin" },
    ]);
    expect(results).toMatchObject([{ success: true }]);
  });

  test("rejects with a reason that the model reads", async () => {
    const { results, text } = await run(
      "one",
      answering(decision({ choice: "reject", reason: "not today", by: "ann" })),
    );
    expect(results).toMatchObject([{ success: false, metadata: { approval_status: "rejected" } }]);
    expect(text).toContain("not today");
  });

  test("edits; an edit that does not fit is told and changes nothing (L4)", async () => {
    const edited = (version: string) =>
      decision({ choice: "approve", edited_arguments: { service: "x", version } });
    const { reports, text } = await run(
      "one",
      answering((id) => `${edited("latest")(id)}\n${edited("v9")(id)}`),
    );
    expect(reports).toMatchObject([
      { state: "pending" },
      { error: { code: "decision_invalid" } },
      { state: "approved" },
    ]);
    expect(text).toContain('deployed {\\"service\\":\\"x\\"');
  });

  test("the first of two decisions counts, the other is told who won (L4)", async () => {
    const { results, reports } = await run(
      "two",
      answering(
        (id) => `${decision({ choice: "approve" })(id)}\n${decision({ choice: "reject" })(id)}`,
        decision({ choice: "reject" }),
      ),
    );
    expect(results.map(({ success }) => success).sort()).toEqual([false, true]);
    expect(reports.filter(({ error }) => error)).toMatchObject([
      { error: { code: "approval_conflict", message: expect.stringContaining("approved by stdin") } },
    ]);
  });

  test("lines that make no decision are told one by one", async () => {
    const { reports } = await run(
      "one",
      answering((id) =>
        [
          "nonsense",
          '{"choice": "approve"}',
          decision({ choice: "approve" })("unknown"),
          decision({ choice: "maybe" })(id),
          decision({ choice: "approve", edited: {} })(id),
          decision({ choice: "reject" })(id),
        ].join("\n"),
      ),
    );
    expect(reports.slice(1).map(({ error, state }) => error?.code ?? state)).toEqual([
      "decision_invalid",
      "decision_invalid",
      "approval_unknown",
      "decision_invalid",
      "decision_invalid",
      "rejected",
    ]);
  });

  test("supplies the result of a client tool (T8)", async () => {
    const { results, reports } = await run(
      "colour",
      answering(
        (id) =>
          `${decision({ choice: "submit", response: { colour: "blue" } })(id)}\n${decision({ choice: "submit", response: { colour: "red" } })(id)}`,
      ),
    );
    expect(reports).toMatchObject([
      { approval: { response_schema: { required: ["colour"] } } },
      { error: { code: "decision_invalid" } },
      { state: "approved" },
    ]);
    expect(results).toMatchObject([{ success: true, output: { type: "json", value: { colour: "red" } } }]);
  });

  test("stdin that ends leaves nobody to ask: rejected", async () => {
    const { results, text } = await run("two", {});
    expect(results.map(({ success }) => success)).toEqual([false, false]);
    expect(text).toContain("stdin has ended");
  });
});
