import { defineTool } from "trackside";
import type { ScriptedRequest } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { offered, requestsOf } from "../../src/testing/conformance/cast.ts";
import { ENGINES, eventsOf, play } from "../guards/stage.ts";
import { calls, entries, expectSound, self, tree } from "./stage.ts";

const dump = defineTool({
  name: "dump",
  execute: () => `${"hay ".repeat(20_000)}needle ${"hay ".repeat(20_000)}`,
});
const artifactIn = ({ prompt }: ScriptedRequest) => /art_[\w.-]*\w/.exec(JSON.stringify(prompt))?.[0] ?? "";
const search = (request: ScriptedRequest) => ({
  calls: [{ tool: "read_artifact", args: { artifact_id: artifactIn(request), search: "needle" } }],
});

describe.each(ENGINES)("artifacts of sub-agents, on the %s engine", (_name, make) => {
  test("T4 S4 a sub-agent reads what its own tools gave it", async () => {
    const { agent, model } = tree(
      { Go: [calls(self("it")), "done"], it: [calls("dump"), search, "found"] },
      { tools: [dump] },
    );
    const { result, events } = await play(agent, { engine: make() });

    expect(entries(result)[0]).toMatchObject({ status: "success", output: "found" });
    const [, second, third] = requestsOf(model, "it");
    expect(offered(second)).toContain("read_artifact");
    expect(JSON.stringify(third?.prompt)).toContain("occurs at");
    expect(eventsOf(events, "artifact").map(({ path }) => path.length)).toEqual([1]);
    expectSound(events);
  });

  test("T4 S3 one of a conversation with artifacts reads those, unless it is given no tools", async () => {
    const { agent, model } = tree(
      {
        Go: [
          calls("dump"),
          (request) => ({
            calls: [
              self("reads", { additional_context: artifactIn(request) }),
              self("narrow", { tool_names: ["dump"] }),
              self("bare", { tool_names: [] }),
            ],
          }),
          "done",
        ],
        reads: [search, "found"],
        narrow: ["ok"],
        bare: ["ok"],
      },
      { tools: [dump] },
    );
    const { result } = await play(agent, { engine: make() });

    expect(result.output).toBe("done");
    expect(JSON.stringify(requestsOf(model, "reads")[1]?.prompt)).toContain("occurs at");
    expect(offered(requestsOf(model, "narrow")[0])).toEqual(["dump", "read_artifact"]);
    expect(offered(requestsOf(model, "bare")[0])).toEqual([]);
  });
});

describe.each(ENGINES)("tools of a tree, on the %s engine", (_name, make) => {
  test("T5 calls with one resource key run one after another, over the whole tree", async () => {
    let live = 0;
    let peak = 0;
    const write = defineTool({
      name: "write",
      resourceKey: () => "the file",
      execute: async () => {
        live += 1;
        peak = Math.max(peak, live);
        for (let i = 0; i < 30; i++) await new Promise((resolve) => setImmediate(resolve));
        live -= 1;
        return "written";
      },
    });
    const { agent } = tree(
      {
        Go: [{ calls: [self("a"), self("b"), { tool: "write" }] }, "done"],
        a: [calls("write", "write"), "ok"],
        b: [calls("write", self("c")), "ok"],
        c: [calls("write"), "ok"],
      },
      { tools: [write] },
    );
    const { result } = await play(agent, { engine: make() });

    expect(result.output).toBe("done");
    expect(peak).toBe(1);
  });
});
