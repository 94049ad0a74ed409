import type { Answer } from "@trackside/server/client";
import { plural } from "../../format/number.ts";

type Bucket = Answer<"stats">["buckets"][number];

/** What a stretch of time comes to. */
export interface Totals {
  readonly runs: number;
  readonly errors: number;
  /** Null before the first run has ended. */
  readonly errorRate: number | null;
  readonly tokens: number;
  readonly cost: number | null;
  readonly verdicts: number;
}

export function totalsOf(buckets: readonly Bucket[]): Totals {
  const sum = (of: (bucket: Bucket) => number) => buckets.reduce((total, bucket) => total + of(bucket), 0);
  const runs = sum(({ runs }) => runs);
  const errors = sum(({ errors }) => errors);
  return {
    runs,
    errors,
    errorRate: runs === 0 ? null : errors / runs,
    tokens: sum(({ input_tokens, output_tokens }) => input_tokens + output_tokens),
    cost: buckets.some(({ cost }) => cost === null) ? null : sum(({ cost }) => cost ?? 0),
    verdicts: sum(({ verdicts }) => Object.values(verdicts).reduce((all, times) => all + times, 0)),
  };
}

/** Everything rails said in these buckets, the most frequent first. */
export function verdictNames(buckets: readonly Bucket[]): string[] {
  const times = new Map<string, number>();
  for (const { verdicts } of buckets)
    for (const [action, n] of Object.entries(verdicts)) times.set(action, (times.get(action) ?? 0) + n);
  return [...times].sort(([, a], [, b]) => b - a).map(([action]) => action);
}

/** What is to be said first: whether anything is wrong. */
export function verdictOfNow({ now }: Answer<"stats">, failed: number): string {
  const said = [
    now.parked > 0 ? `${plural(now.parked, "run")} parked: somebody has to look` : "",
    now.pending_approvals > 0 ? `${plural(now.pending_approvals, "approval")} waiting for somebody` : "",
    failed > 0 ? `${plural(failed, "run")} failed in this time` : "",
  ].filter((one) => one !== "");
  return said.length === 0 ? "Nothing is wrong." : `${said.join(". ")}.`;
}
