import { describe, expect, test } from "vitest";
import { configOf, project } from "../support/project.ts";

const CONFIG = configOf("served");

describe("trackside doctor", () => {
  test("finds nothing wrong with a config that works, and says what there is", async () => {
    const findings = await project(CONFIG).json("doctor");
    expect(findings.filter(({ state }) => state === "wrong")).toEqual([]);
    const said = new Map(findings.map(({ what, detail }) => [what, detail]));
    expect([...said.keys()]).toEqual(
      expect.arrayContaining([
        "Node",
        "Machine",
        "Folder",
        "Disk",
        "Clock",
        "Keys",
        "Config",
        "Store",
        "Audit",
      ]),
    );
    expect(said.get("Sign-in")).toBe("nobody can sign in yet");
  });

  test("without a config looks at the machine alone", async () => {
    const { stdout, code } = await project(null).cli(["doctor"]);
    expect(stdout).toContain("there is no trackside.config.ts here or above");
    expect(stdout).toContain("Nothing is wrong.");
    expect(code).toBe(0);
  });

  test.each([
    ["a config that does not load", "throw new Error('not yet');", "not yet"],
    [
      "a store that does not open",
      `import { postgres } from ${JSON.stringify(import.meta.resolve("../../../host/src/index.ts"))};
import { defineConfig } from ${JSON.stringify(import.meta.resolve("../../../server/src/config/index.ts"))};
export default defineConfig({ store: postgres("postgres://nobody@127.0.0.1:2/none"), agents: [] });`,
      "Check that it runs and that this user may use it",
    ],
  ])("says what is wrong with %s, and what to do; exits with 1", async (_, config, message) => {
    const { stdout, code } = await project(config).cli(["doctor"]);
    expect(stdout.replaceAll(/\s+/g, " ")).toContain(message);
    expect(stdout).toContain("1 thing is wrong.");
    expect(code).toBe(1);
  });
});
