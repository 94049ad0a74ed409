import { describe, expect, test } from "vitest";
import { configOf, project } from "../support/project.ts";

const CONFIG = configOf("served");
const GREETER = { name: "greeter", model: "demo:scripted", instructions: "Greet.", tools: ["greet"] };

describe("trackside agents", () => {
  test("A1 a definition goes in and comes out, each save is a version, an older one can be had again", async () => {
    const place = project(CONFIG);
    place.write("greeter.json", JSON.stringify(GREETER));
    expect((await place.cli(["agents", "import", "greeter.json"])).stdout).toBe("greeter, version 1\n");
    place.write("greeter.json", JSON.stringify({ ...GREETER, instructions: "Greet warmly." }));
    expect((await place.cli(["agents", "import", "greeter.json"])).stdout).toBe("greeter, version 2\n");

    const exported = JSON.parse((await place.cli(["agents", "export", "greeter"])).stdout);
    expect(exported).toMatchObject({ ...GREETER, instructions: "Greet warmly." });
    const { stdout: difference } = await place.cli(["agents", "diff", "greeter", "1", "2"]);
    expect(difference).toBe('instructions\n  - "Greet."\n  + "Greet warmly."\n');
    const { stdout: restored } = await place.cli(["agents", "restore", "greeter", "1"]);
    expect(restored).toBe("greeter, version 3, is as version 1 was.\n");
    const versions = await place.json("agents", "versions", "greeter");
    expect(versions.map(({ n, restored_from }) => [n, restored_from])).toEqual([
      [3, 1],
      [2, null],
      [1, null],
    ]);

    const { stdout, code } = await place.cli(["run", "greeter", "Hi"]);
    expect(stdout).toContain("Hello.");
    expect(code).toBe(0);
    await place.cli(["agents", "delete", "greeter"]);
    expect((await place.cli(["agents"])).stdout).toBe("There are no such agents.\n");
  });

  test("A3 validate says everything that is wrong, and exits with 1", async () => {
    const place = project(CONFIG);
    const wrong = { name: "x", model: "nonsense", tools: ["nope"], max_steps: 0, extra: 1 };
    place.write("wrong.json", JSON.stringify(wrong));
    const { stdout, code } = await place.cli(["agents", "validate", "wrong.json"]);
    for (const path of ["model", "max_steps", "extra", "tools"]) expect(stdout).toContain(`- ${path}`);
    expect(code).toBe(1);
    place.write("right.json", JSON.stringify(GREETER));
    expect((await place.cli(["agents", "validate", "right.json"])).stdout).toBe(
      "Nothing is wrong with it.\n",
    );
  });

  test.each([
    [["agents", "export"], "Something is missing. Write: trackside agents export <name>"],
    [["agents", "export", "nobody"], "nobody"],
    [["agents", "diff", "greeter", "one", "2"], 'A version is a number from 1 on, not "one"'],
    [["agents", "import", "none.json"], "none.json cannot be read"],
  ])("%j is refused with what to do", async (args, message) => {
    const { stderr, code } = await project(CONFIG).cli(args);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });
});
