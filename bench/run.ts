/** `npm run bench`: every contestant through every scenario, in turns, each time in a new process. */
import { execFileSync, fork } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { cpus, platform, release, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Budget, Measured } from "./measure.ts";
import { check, markdown, type Results, type Row, table, titleOf } from "./results.ts";
import { importMillis, install, packages, uninstall } from "./scenarios/import.ts";
import { scenarios } from "./scenarios/index.ts";
import type { Outcome } from "./scenarios/scenario.ts";

const here = import.meta.dirname;
const CORE = join(here, "..", "packages", "core");
const RESULTS = join(here, "results.json");
const DOCS = join(here, "..", "docs", "benchmarks.md");
const IN_MEMORY = ["bare", "trackside", "pi", "ai-sdk", "openai-agents", "langchain"];
const CONTESTANTS = [...IN_MEMORY, "langgraph", "mastra"];
const SCENARIOS = [...Object.keys(scenarios), "import"];
const HELP = `npm run bench -- [options]
  --quick                fewer processes, shorter measurements
  --processes <n>        processes per contestant and scenario (5; with --quick 1)
  --only <a,b>           scenarios: ${SCENARIOS.join(", ")}
  --contestants <a,b>    contestants: ${CONTESTANTS.join(", ")}
  --check                compare Trackside with its targets, exit 1 and name each miss
  --json <file>          write what was measured
  --write                write bench/results.json and the tables in docs/benchmarks.md`;

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    processes: { type: "string" },
    only: { type: "string" },
    contestants: { type: "string" },
    check: { type: "boolean", default: false },
    json: { type: "string" },
    write: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (options.help) {
  console.log(HELP);
  process.exit(0);
}

if (options.write && (options.quick || options.contestants !== undefined))
  throw new Error("--write publishes what all were measured at: leave out --quick and --contestants");

const chosenScenarios = choose("scenario", options.only, SCENARIOS);
const chosenContestants = choose("contestant", options.contestants, CONTESTANTS);
const processes = Number(options.processes ?? (options.quick ? 1 : 5));
const budget: Budget = options.quick ? { warmMs: 1000, measureMs: 400 } : { warmMs: 1500, measureMs: 1200 };

installPeers();
const results: Results = { machine: machine(), processes, versions: versions(), scenarios: {} };
for (const scenario of chosenScenarios) {
  console.log(`\n## ${titleOf(scenario)}\n`);
  const rows = scenario === "import" ? measureImports() : await measureInTurns(scenario);
  results.scenarios[scenario] = rows;
  console.log(table(scenario, rows));
}

if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(results, null, 2)}\n`);
if (options.write) {
  const published = withEarlier(results);
  writeFileSync(RESULTS, `${JSON.stringify(published, null, 2)}\n`);
  writeBetweenMarkers(DOCS, "bench:foundation", markdown(published));
}
if (options.check) {
  console.log("\n## Targets\n");
  const checked = check(results);
  for (const { met, says, detail } of checked)
    console.log(`${met ? "met   " : "MISSED"}  ${says}: ${detail}`);
  if (checked.some(({ met }) => !met)) process.exitCode = 1;
}

/** A B C A B C: so that whatever the machine does meanwhile falls on all alike. */
async function measureInTurns(scenario: string): Promise<Record<string, Row>> {
  const rows: Record<string, Row> = {};
  const out = new Set<string>();
  const takePart = scenarios[scenario]?.contestants ?? IN_MEMORY;
  const wanted = chosenContestants.filter((name) => takePart.includes(name));
  const turns = scenarios[scenario]?.once ? 1 : processes;
  for (let turn = 0; turn < turns; turn++)
    for (const contestant of wanted.filter((name) => !out.has(name))) {
      const answer = await measureInChild(contestant, scenario, rows[contestant]?.way ?? "");
      if ("failed" in answer) {
        out.add(contestant);
        delete rows[contestant];
        console.log(`skipped ${contestant}: ${answer.failed}`);
        continue;
      }
      rows[contestant] ??= { way: answer.ok.way, values: {} };
      record(rows[contestant], answer.ok.values);
    }
  return rows;
}

type Answer = { ok: Outcome } | { failed: string };

function measureInChild(contestant: string, scenario: string, way: string): Promise<Answer> {
  const child = fork(join(here, "child.ts"), [contestant, scenario, JSON.stringify(budget), way], {
    execArgv: ["--expose-gc"],
    timeout: 600_000,
    // Nothing of the caller's: a tracing key in it would switch on telemetry in some library.
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", NODE_ENV: "production" },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  return new Promise((resolve) => {
    let answer: Answer | undefined;
    child.on("message", (message: Answer) => {
      answer = message;
    });
    child.on("close", (code, signal) =>
      resolve(answer ?? { failed: `process ended with ${signal ?? code}` }),
    );
  });
}

function measureImports(): Record<string, Row> {
  const rows: Record<string, Row> = {};
  const wanted = ["zod", ...chosenContestants.filter((name) => name in packages)];
  const installed = wanted.flatMap((contestant) => {
    try {
      return [{ contestant, ...install(contestant, results.versions, CORE) }];
    } catch (error) {
      console.log(`skipped ${contestant}: ${String(error).split("\n")[0]}`);
      return [];
    }
  });
  for (const each of installed) {
    importMillis(each); // the first one reads the files from disk
    rows[each.contestant] = { values: {} };
  }
  for (let turn = 0; turn < processes * 4; turn++)
    for (const each of installed) {
      const row = rows[each.contestant];
      if (row !== undefined)
        record(row, { ...(turn === 0 && each.values), importMillis: importMillis(each) });
    }
  installed.forEach(uninstall);
  return rows;
}

function record(row: Row, values: Measured): void {
  for (const [metric, value] of Object.entries(values)) {
    row.values[metric] ??= [];
    row.values[metric].push(value === null ? null : Number(value.toPrecision(5)));
  }
}

/** The bench has its own lockfile; its peers are installed on first use, and again when that file changes. */
function installPeers(): void {
  const lock = join(here, "package-lock.json");
  const installed = join(here, "node_modules", ".package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  console.log("installing what Trackside is compared with …");
  execFileSync("npm", ["install", "--no-save", "--no-audit", "--no-fund"], { cwd: here, stdio: "inherit" });
}

function versions(): Record<string, string> {
  const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(
    readFileSync(join(here, "package.json"), "utf8"),
  );
  const { version } = JSON.parse(readFileSync(join(CORE, "package.json"), "utf8"));
  return { ...dependencies, trackside: version };
}

function machine(): Results["machine"] {
  const all = cpus();
  return {
    cpu: all[0]?.model.trim() ?? "unknown processor",
    cores: all.length,
    memoryGB: Math.round(totalmem() / 1024 ** 3),
    platform: `${platform()} ${release().split("-")[0]}`,
    node: process.versions.node,
  };
}

function choose(what: string, given: string | undefined, all: string[]): string[] {
  if (given === undefined) return all;
  const names = given.split(",");
  const unknown = names.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new Error(`no ${what} ${unknown.join(", ")}; there are ${all.join(", ")}`);
  return all.filter((name) => names.includes(name));
}

/** Scenarios left out by `--only` keep their published rows, if those are of this machine and these versions. */
function withEarlier(results: Results): Results {
  if (!existsSync(RESULTS)) return results;
  const earlier: Results = JSON.parse(readFileSync(RESULTS, "utf8"));
  const setting = ({ machine, processes }: Results) => JSON.stringify([machine, processes]);
  // A package that came since says nothing of what was measured before.
  const changed = Object.keys(earlier.versions).some(
    (name) => name in results.versions && earlier.versions[name] !== results.versions[name],
  );
  if (setting(earlier) !== setting(results) || changed) return results;
  const merged: Results["scenarios"] = {};
  for (const scenario of SCENARIOS) {
    const rows = results.scenarios[scenario] ?? earlier.scenarios[scenario];
    if (rows !== undefined) merged[scenario] = rows;
  }
  return { ...results, scenarios: merged };
}

function writeBetweenMarkers(file: string, marker: string, text: string): void {
  const [open, close] = [`<!-- ${marker} -->`, `<!-- /${marker} -->`];
  const page = readFileSync(file, "utf8");
  const [start, end] = [page.indexOf(open), page.indexOf(close)];
  if (start < 0 || end < start) throw new Error(`${file} lacks ${open} … ${close}`);
  writeFileSync(file, `${page.slice(0, start + open.length)}\n${text}\n${page.slice(end)}`);
}
