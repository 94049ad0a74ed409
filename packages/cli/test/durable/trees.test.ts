import { expect, test } from "vitest";
import { project } from "../support/project.ts";

/** An agent that has two others look, and says so. It answers by what it was asked: the same in every process. */
const BOSS = `
import { Agent, scriptedModel, sqlite, Trackside } from ${JSON.stringify(import.meta.resolve("../fixtures/durable.ts"))};
const model = scriptedModel(
  [
    ({ prompt }) => {
      if (JSON.stringify(prompt).includes("Task:")) return "Seen.";
      const jobs = [{ task: "look left" }, { task: "look right" }];
      return prompt.at(-1)?.role === "tool" ? "Both have looked." : { calls: [{ tool: "spawn_parallel", args: { jobs } }] };
    },
  ],
  { loop: true },
);
const boss = new Agent({ name: "boss", model, allowParallelSubagents: true });
export default new Trackside({ store: sqlite("trackside.db"), agents: [boss] });
`;

test("S2 runs of sub-agents are listed by their parent, and shown and followed within it", async () => {
  const place = project(BOSS);
  await place.cli(["run", "boss", "go"]);
  const [boss] = await place.json("runs");
  const id = String(boss?.["id"]);
  const children = await place.json("runs", "--parent", id);
  expect(children).toMatchObject([{ parent_run_id: id }, { parent_run_id: id }]);

  const { stdout: shown } = await place.cli(["runs", "show", id.slice(0, -2)]); // theirs begin like that, too
  expect(shown).toMatch(
    /· sub-agent 1\.1\[0\] started\n[\s\S]*┌ sub-agent 1\.1\[0\]\n.*│ step 1\n[\s\S]*│ {3}Seen\.\n[\s\S]*│ ● done · answered/,
  );
  expect(shown.match(/^\s*● done/gm) ?? shown.match(/ {2}● done/g)).toHaveLength(1); // its own end
  const { stdout: child } = await place.cli(["runs", "show", String(children[0]?.["id"])]);
  expect(child).toContain(`sub-agent of  ${id}`);

  const tail = await place.cli(["runs", "tail", id, "--json"]);
  expect(tail.code).toBe(0);
  const lines: { cursor: string; event: { run_id: string; type: string } }[] = tail.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(new Set(lines.map(({ event }) => event.run_id)).size).toBe(3);
  // Cut in the middle of a sub-agent, and gone on from there.
  const at = lines.findIndex(({ cursor }) => cursor.includes(";"));
  const rest = await place.cli(["runs", "tail", id, "--json", "--after", lines[at]?.cursor ?? ""]);
  expect(rest.stdout.trimEnd().split("\n")).toHaveLength(lines.length - at - 1);
}, 300_000); // many processes, one after the other
