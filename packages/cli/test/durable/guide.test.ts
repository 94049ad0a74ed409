import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { cli, root } from "../support/cli.ts";

const guide = readFileSync(join(root, "docs/guides/cli.md"), "utf8");
const commands = [...guide.matchAll(/^```sh\n(.*?)^```/gms)]
  .flatMap(([, block = ""]) => block.split("\n"))
  .filter((line) => line !== "");

/** As a shell would take it apart, as far as the guide needs one. */
function words(line: string): string[] {
  const command = line
    .replace(/^.*\| (?=trackside)/, "")
    .replace(/ +#.*$/, "")
    .replace(/ > \S+$/, "");
  return [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? "");
}

describe("docs/guides/cli.md", () => {
  test("shows commands", () => {
    expect(commands.length).toBeGreaterThan(25);
  });

  // What is understood gets as far as the config, or the agent's file, which is not there.
  test.each(commands)("%s", async (line) => {
    const [name, ...args] = words(line);
    expect(name).toBe("trackside");
    const isFile = args.includes("agent.ts");
    const asked = [...args, ...(isFile ? [] : ["--config", "nowhere.ts"])];
    const { code, stdout, stderr } = await cli(asked, { input: '{"order": 17, "amount": 10}' });
    expect(stdout).toBe("");
    expect(stderr.startsWith(`There is no file ${isFile ? "agent" : "nowhere"}.ts`)).toBe(true);
    expect(code).toBe(2);
  });
});
