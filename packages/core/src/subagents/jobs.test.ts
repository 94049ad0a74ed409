import { describe, expect, test } from "vitest";
import type { JsonObject } from "../schema/json.ts";
import { compileSchema } from "../tools/compile-schema.ts";
import { type Job, readJobs, type SpawnTool, spawnTools } from "./jobs.ts";

const parent = { max: 3, childTools: ["search", "fetch"] };

function jobsOf(tool: SpawnTool, args: JsonObject): readonly Job[] {
  const read = readJobs(tool, args, parent);
  if (!read.ok) throw new Error(read.problem);
  return read.jobs;
}

function problemsOf(tool: SpawnTool, args: JsonObject, limits = parent): readonly string[] {
  const read = readJobs(tool, args, limits);
  if (read.ok) return [];
  const [first, ...problems] = read.problem.split("\n");
  expect(first).toBe("no sub-agent was started:");
  return problems.map((problem) => problem.replace(/^- /, ""));
}

describe("the spawn tools", () => {
  test("S1 S2 are there as the agent allows", () => {
    const named = (self: boolean, parallel: boolean) =>
      spawnTools({ self, parallel, max: 3 }).map((tool) => tool.name);
    expect(named(false, false)).toEqual([]);
    expect(named(true, false)).toEqual(["spawn_self"]);
    expect(named(false, true)).toEqual(["spawn_parallel"]);
    expect(named(true, true)).toEqual(["spawn_self", "spawn_parallel"]);
  });

  test("S2 show the model how many jobs it may give", async () => {
    const [tool] = spawnTools({ self: false, parallel: true, max: 2 });
    expect(tool?.description).toContain("up to 2 tasks");
    const schema = compileSchema(tool?.input_schema ?? {});
    const jobs = [
      { task: "a", tool_names: null, output_schema: null },
      { task: "b", system_prompt: "c" },
    ];
    expect(await schema.check({ jobs })).toMatchObject({ ok: true });
    expect(await schema.check({ jobs: [...jobs, ...jobs] })).toMatchObject({ ok: false });
    expect(await schema.check({ jobs: [] })).toMatchObject({ ok: false });
  });
});

describe("readJobs", () => {
  test("S1 reads the one job of spawn_self, with what was left out or null", () => {
    const bare = {
      index: 0,
      task: "t",
      additional_context: "",
      tool_names: null,
      system_prompt: "",
      output_schema: null,
    };
    expect(jobsOf("spawn_self", { task: "t" })).toEqual([bare]);
    const nulls = { task: "t", additional_context: null, tool_names: null, output_schema: null };
    expect(jobsOf("spawn_self", nulls)).toEqual([bare]);
  });

  test("S2 reads jobs in order, as plain JSON", () => {
    const full = {
      task: "a",
      additional_context: "b",
      tool_names: ["fetch"],
      system_prompt: "c",
      output_schema: { type: "number" },
    };
    const jobs = jobsOf("spawn_parallel", { jobs: [{ task: "x", tool_names: [] }, full] });
    expect(jobs).toMatchObject([
      { index: 0, task: "x", tool_names: [] },
      { index: 1, ...full },
    ]);
    expect(JSON.parse(JSON.stringify(jobs))).toEqual(jobs);
  });

  test("S3 the whole set of the parent's tools may be named", () => {
    expect(jobsOf("spawn_self", { task: "t", tool_names: ["fetch", "search"] })[0]?.tool_names).toEqual([
      "fetch",
      "search",
    ]);
  });

  test("S2 no jobs, too many, and what is no job are refused", () => {
    expect(problemsOf("spawn_parallel", {})).toEqual(["jobs: a list of 1 to 3 jobs expected, nothing given"]);
    expect(problemsOf("spawn_parallel", { jobs: [] })).toEqual(["jobs: 1 to 3 jobs expected, none given"]);
    const four = Array.from({ length: 4 }, () => ({ task: "t" }));
    expect(problemsOf("spawn_parallel", { jobs: four })).toEqual([
      "jobs: at most 3 jobs in one call expected, 4 given; use several calls",
    ]);
    expect(problemsOf("spawn_parallel", { jobs: ["a"] })).toEqual([
      'jobs[0]: an object with `task` expected, "a" given',
    ]);
  });

  test("S2 S3 everything wrong is told at once, with its job", () => {
    const jobs = [
      { tool_names: ["search", "search", "delete", 5] },
      { task: " ", additional_context: 5, output_schema: { type: "x" } },
      { task: "t", tool_names: "search", tools: [], system_prompt: [] },
    ];
    expect(problemsOf("spawn_parallel", { jobs, job: 1 })).toEqual([
      "job: unknown key, did you mean `jobs`?",
      "jobs[0].task: a text that says what to do expected, nothing given",
      'jobs[0].tool_names[1]: each tool once expected, "search" given',
      'jobs[0].tool_names[2]: a tool that sub-agents may have expected (search, fetch), "delete" given',
      "jobs[0].tool_names[3]: the name of a tool expected, 5 given",
      'jobs[1].task: a text that says what to do expected, " " given',
      "jobs[1].additional_context: a text expected, 5 given",
      expect.stringMatching(
        /^jobs\[1\]\.output_schema: #\/type: one or a list of null, .* expected, "x" given$/,
      ),
      "jobs[2].tools: unknown key",
      'jobs[2].tool_names: a list of tool names, or null for all expected, "search" given',
      "jobs[2].system_prompt: a text expected, [] given",
    ]);
  });

  test("S3 spawn and handoff tools cannot be named, even if the parent would allow it", () => {
    const limits = { max: 3, childTools: ["search", "spawn_self", "handoff_to_x"] };
    const args = { task: "t", tool_names: ["spawn_self", "spawn_parallel", "handoff_to_x"] };
    expect(problemsOf("spawn_self", args, limits)).toEqual([
      expect.stringContaining("other than spawn and handoff tools expected (search)"),
      expect.stringContaining('"spawn_parallel" given'),
      expect.stringContaining('"handoff_to_x" given'),
    ]);
  });

  test("S3 without tools for sub-agents the problem says so", () => {
    const limits = { max: 3, childTools: [] };
    expect(problemsOf("spawn_self", { task: "t", tool_names: ["a"] }, limits)[0]).toContain("there are none");
    expect(problemsOf("spawn_self", { task: "t", tool_names: [] }, limits)).toEqual([]);
  });

  test("S1 spawn_self takes no system_prompt and no jobs", () => {
    expect(problemsOf("spawn_self", { task: "t", system_prompt: "x" })).toEqual([
      "system_prompt: only the jobs of spawn_parallel have one; put it into the task",
    ]);
    expect(problemsOf("spawn_self", { jobs: [] })).toHaveLength(2);
  });

  test("S2 a flood of jobs is answered shortly", () => {
    const jobs = Array.from({ length: 10_000 }, () => ({ tool_names: ["x"] }));
    const problems = problemsOf("spawn_parallel", { jobs });
    expect(problems).toHaveLength(21);
    expect(problems.at(-1)).toMatch(/^and \d+ more$/);
  });
});
