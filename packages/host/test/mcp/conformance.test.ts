import { execFileSync, spawn } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";

/**
 * The conformance package plays the server, starts our client (`conformance-client.ts`, nothing but McpHub), and judges
 * what it sees on the wire. Its last release knows the eras up to 2025; the one to come also that of 2026.
 */
// Each starts two programs, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 });

const require = createRequire(import.meta.url);

/** What the programs compiled, for each other. */
const compiled = temporaryFolder("conformance-compiled");

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
  readonly details?: { readonly tooEarly?: boolean };
}

/** What is left out, and why. */
const OUT_OF_SCOPE = [
  /^auth\//, // OAuth is not part of the hub: keys are given as headers
  /^sep-2640-/, // skills, an extension we do not have
];

for (const name of ["conformance", "conformance-next"]) {
  const program = join(
    dirname(require.resolve(`@modelcontextprotocol/${name}/package.json`)),
    "dist",
    "index.js",
  );
  describe(`M1 ${name}`, () => {
    test.concurrent.for(scenariosOf(program))("%s (%s)", async ([scenario, revision]) => {
      const checks = await play(program, scenario, revision);
      expect(checks.filter(failed)).toEqual([]);
      expect(checks.filter(({ status }) => status === "SUCCESS").length).toBeGreaterThan(0);
    });
  });
}

/** The client scenarios with each protocol revision they are for. */
function scenariosOf(program: string): [scenario: string, revision: string][] {
  const listed = execFileSync(process.execPath, [program, "list"], { encoding: "utf8" });
  const [, client = ""] = listed.split("Client scenarios");
  const [own = ""] = client.split("\n\n");
  return [...own.matchAll(/^ {2}- (\S+) \[(.+)\]$/gm)]
    .map(([, scenario = "", revisions = ""]) => ({ scenario, revisions: revisions.split(",") }))
    .filter(({ scenario }) => !OUT_OF_SCOPE.some((pattern) => pattern.test(scenario)))
    .flatMap(({ scenario, revisions }) =>
      revisions.map((revision): [string, string] => [scenario, revision]),
    );
}

/** A client that is late is on a slow machine; one that is early breaks the rule. */
function failed({ id, status, details }: Check): boolean {
  if (id === "client-sse-retry-timing") return details?.tooEarly === true;
  return status === "FAILURE";
}

async function play(program: string, scenario: string, revision: string): Promise<Check[]> {
  const output = temporaryFolder("conformance");
  // The program takes it apart at spaces and hands it to a shell.
  const command = `${process.execPath} --conditions=@trackside/source ${join(import.meta.dirname, "conformance-client.ts")}`;
  const args = [
    "client",
    "--command",
    command,
    "--scenario",
    scenario,
    "--spec-version",
    revision,
    "--timeout",
    "90000",
  ];
  const judge = spawn(process.execPath, [program, ...args, "--output-dir", output], {
    stdio: "pipe",
    env: { ...process.env, NODE_COMPILE_CACHE: compiled },
  });
  let said = "";
  for (const stream of [judge.stdout, judge.stderr]) stream.on("data", (chunk) => (said += chunk));
  await new Promise((resolve) => judge.once("close", resolve));
  const [report] = globSync(join(output, "**/checks.json"));
  if (report === undefined) throw new Error(`no report for ${scenario}: ${said}`);
  expect(said).not.toMatch(/Client (exited with code|timed out)/);
  return JSON.parse(readFileSync(report, "utf8"));
}
