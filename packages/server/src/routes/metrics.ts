import type { StatsReport } from "@trackside/host";
import type { Handlers } from "../http/handler.ts";
import { tenantOf } from "../http/scope.ts";

export const metricsHandlers = {
  /** Counters are of all runs that the store still has, so that they go on where they were after a restart. */
  async metrics(_input, context) {
    const { trackside } = context;
    const now = trackside.engine.clock.now();
    const report = await trackside.stats.report({ ...tenantOf(context), from: 0, to: now + 1, buckets: 1 });
    return new Response(textOf(report), {
      headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
    });
  },
} satisfies Partial<Handlers>;

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly values: readonly (readonly [labels: string, value: number])[];
}

/** Numbers as Prometheus reads them. */
function textOf({ buckets, now }: StatsReport): string {
  const [all] = buckets;
  const verdicts = Object.entries(all?.verdicts ?? {});
  const metrics: readonly Metric[] = [
    {
      name: "trackside_runs_total",
      help: "Runs that ended, by how.",
      type: "counter",
      values: [
        ['{status="completed"}', all?.completed ?? 0],
        ['{status="error"}', all?.errors ?? 0],
        ['{status="cancelled"}', all?.cancelled ?? 0],
      ],
    },
    {
      name: "trackside_tokens_total",
      help: "Tokens of runs that ended.",
      type: "counter",
      values: [
        ['{direction="input"}', all?.input_tokens ?? 0],
        ['{direction="output"}', all?.output_tokens ?? 0],
      ],
    },
    {
      name: "trackside_rail_verdicts_total",
      help: "What rails said other than continue.",
      type: "counter",
      values: verdicts.map(([action, times]) => [`{action="${action}"}`, times]),
    },
    {
      name: "trackside_open_runs",
      help: "Runs that are not over, by state.",
      type: "gauge",
      values: [
        ['{status="running"}', now.running],
        ['{status="waiting"}', now.waiting],
        ['{status="parked"}', now.parked],
      ],
    },
    {
      name: "trackside_pending_approvals",
      help: "What waits for a human.",
      type: "gauge",
      values: [["", now.pending_approvals]],
    },
    {
      name: "process_resident_memory_bytes",
      help: "Memory of this process.",
      type: "gauge",
      values: [["", process.memoryUsage.rss()]],
    },
    {
      name: "process_uptime_seconds",
      help: "How long this process has run.",
      type: "gauge",
      values: [["", Math.round(process.uptime())]],
    },
  ];
  return metrics.map(written).join("");
}

function written({ name, help, type, values }: Metric): string {
  const lines = values.map(([labels, value]) => `${name}${labels} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}
