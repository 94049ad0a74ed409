/** How long to warm up and to measure, per thing measured. */
export interface Budget {
  warmMs: number;
  measureMs: number;
  /** How long one batch of runs is at least. */
  batchMs?: number;
}

/** Metric name to value; `null` where the contestant has no such thing. */
export type Measured = Record<string, number | null>;

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

/**
 * Nanoseconds per run. A sample is a batch of runs long enough to carry its share of garbage collection, so that a
 * library that litters pays for it; the median over batches drops what else the machine was doing.
 */
export async function nanosPerRun(run: Run, budget: Budget): Promise<number> {
  const [nanos = Number.NaN] = await nanosPerRunOfEach([run], budget);
  return nanos;
}

/** The same for several, batch by batch in turns, so that they compare. */
export async function nanosPerRunOfEach(runs: Run[], budget: Budget): Promise<number[]> {
  gc(); // before the warm-up: it also throws away optimized code
  for (const run of runs) await runFor(run, budget.warmMs, 3);
  const batchMs = budget.batchMs ?? Math.max(20, budget.measureMs / 40);
  const batches: number[][] = runs.map(() => []);
  const end = performance.now() + budget.measureMs * runs.length;
  for (let turn = 0; turn < 3 || performance.now() < end; turn++)
    for (const [i, run] of runs.entries()) batches[i]?.push(await runFor(run, batchMs, 1));
  return batches.map(median);
}

type Run = () => Promise<unknown>;

async function runFor(run: Run, ms: number, atLeast: number): Promise<number> {
  const start = performance.now();
  let runs = 0;
  do {
    await run();
    runs++;
  } while (runs < atLeast || performance.now() - start < ms);
  return ((performance.now() - start) * 1e6) / runs;
}

/** The fastest of several ways to do the same, and its name where there was a choice. */
export async function fastest<T>(ways: Record<string, T>, run: (way: T) => Promise<unknown>, budget: Budget) {
  const entries = Object.entries(ways);
  const [first] = entries;
  if (first === undefined) throw new Error("a contestant offers no way to run");
  if (entries.length === 1) return { way: first[1] };
  const nanos = await nanosPerRunOfEach(
    entries.map(
      ([, way]) =>
        () =>
          run(way),
    ),
    { warmMs: budget.warmMs, measureMs: budget.measureMs / 2 },
  );
  const [name, way] = entries[nanos.indexOf(Math.min(...nanos))] ?? first;
  return { name, way };
}

/** Collects garbage. Children are started with `--expose-gc`. */
export function gc(): void {
  if (globalThis.gc === undefined) throw new Error("start node with --expose-gc");
  globalThis.gc();
}

/** Bytes of heap that are reachable. Twice, because the first collection may leave what finalizers held. */
export function liveHeap(): number {
  gc();
  gc();
  return process.memoryUsage().heapUsed;
}
