import { median } from "./measure.ts";
import { imports } from "./scenarios/import.ts";
import { scenarios } from "./scenarios/index.ts";
import type { Metric } from "./scenarios/scenario.ts";
import { targets } from "./targets.ts";

/** Everything one invocation of the bench measured: one value per process. */
export interface Results {
  machine: { cpu: string; cores: number; memoryGB: number; platform: string; node: string };
  processes: number;
  versions: Record<string, string>;
  scenarios: Record<string, Record<string, Row>>;
}

export interface Row {
  /** Which of the contestant's entry points was the fastest. */
  way?: string | undefined;
  values: Record<string, (number | null)[]>;
}

const OURS = "trackside";
const BASELINES = new Set(["bare", "zod"]);

export function titleOf(scenario: string): string {
  return aboutOf(scenario).title;
}

function aboutOf(scenario: string): { title: string; metrics: Metric[] } {
  const about = scenario === "import" ? imports : scenarios[scenario];
  if (about === undefined) throw new Error(`no scenario ${scenario}`);
  return about;
}

function typical(row: Row | undefined, metric: string): number | null {
  const values = row?.values[metric]?.filter((value) => value !== null);
  return values === undefined || values.length === 0 ? null : median(values);
}

function baselineOf(rows: Record<string, Row>, metric: string): number | null {
  const name = Object.keys(rows).find((row) => BASELINES.has(row));
  return name === undefined ? null : typical(rows[name], metric);
}

export function table(scenario: string, rows: Record<string, Row>): string {
  const { metrics } = aboutOf(scenario);
  const lines = [
    `| | ${metrics.map((metric) => metric.label).join(" | ")} |`,
    `| --- | ${metrics.map(() => "---:").join(" | ")} |`,
  ];
  for (const [contestant, row] of Object.entries(rows)) {
    const name = row.way === undefined ? contestant : `${contestant} (\`${row.way}\`)`;
    lines.push(`| ${name} | ${metrics.map((metric) => cell(rows, row, metric)).join(" | ")} |`);
  }
  return lines.join("\n");
}

/** `median (×ratio) [least – most]` over the processes. */
function cell(rows: Record<string, Row>, row: Row, { key, digits, ratio }: Metric): string {
  const value = typical(row, key);
  if (value === null) return "n/a";
  const values = (row.values[key] ?? []).filter((each) => each !== null);
  const baseline = ratio ? baselineOf(rows, key) : null;
  const shown = [format(value, digits)];
  if (baseline !== null) shown.push(`**${format(value / baseline, value / baseline < 10 ? 1 : 0)}×**`);
  const least = format(Math.min(...values), digits);
  const most = format(Math.max(...values), digits);
  if (least !== most) shown.push(`<sub>${least} – ${most}</sub>`);
  return shown.join(" ");
}

function format(value: number, digits: number): string {
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export interface Checked {
  says: string;
  met: boolean;
  detail: string;
}

/** Trackside's numbers against the targets of the scenarios that were measured. */
export function check(results: Results): Checked[] {
  return targets
    .filter(({ scenario }) => results.scenarios[scenario] !== undefined)
    .map(({ scenario, metric, against, atMost = Infinity, atLeast = -Infinity, says }) => {
      const rows = results.scenarios[scenario] ?? {};
      const ours = typical(rows[OURS], metric);
      const other =
        against === undefined
          ? 1
          : against === "baseline"
            ? baselineOf(rows, metric)
            : bestPeer(rows, metric);
      if (ours === null || other === null)
        return {
          says,
          met: false,
          detail: `not measured: ${ours === null ? OURS : against} has no ${metric}`,
        };
      const got = ours / other;
      const allowed = atMost === Infinity ? `at least ${atLeast}` : `${Number(atMost.toFixed(2))}`;
      const met = got <= atMost && got >= atLeast;
      return { says, met, detail: `${got.toFixed(2)}, allowed ${allowed}` };
    });
}

function bestPeer(rows: Record<string, Row>, metric: string): number | null {
  const peers = Object.keys(rows).filter((name) => name !== OURS && !BASELINES.has(name));
  const values = peers.map((name) => typical(rows[name], metric)).filter((value) => value !== null);
  return values.length === 0 ? null : Math.min(...values);
}

export function markdown(results: Results): string {
  const { machine, processes } = results;
  const sections = Object.entries(results.scenarios).map(
    ([scenario, rows]) => `### ${titleOf(scenario)}\n\n${table(scenario, rows)}`,
  );
  const about = `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGB} GB, ${machine.platform}, Node ${machine.node}; median of ${processes} processes each, **ratio** to the baseline, smallest and largest process below.`;
  const versions = Object.entries(results.versions).map(([name, version]) => `${name} ${version}`);
  return `${about}\n\n${versions.join(", ")}.\n\n${sections.join("\n\n")}`;
}
