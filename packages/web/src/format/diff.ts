export interface DiffLine {
  kind: "same" | "added" | "removed";
  text: string;
  /** Line numbers from 1 on; absent on the side the line is not on. */
  before?: number;
  after?: number;
}

/** Beyond this many steps of search the rest is told as removed and added: exact, if not minimal. */
const MOST_STEPS = 4_000;

/** Lines of two texts side by side, by the algorithm of Myers: the fewest lines added and removed. */
export function diffLines(before: string, after: string): DiffLine[] {
  const a = before === "" ? [] : before.split("\n");
  const b = after === "" ? [] : after.split("\n");
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (
    tail < a.length - head &&
    tail < b.length - head &&
    a[a.length - 1 - tail] === b[b.length - 1 - tail]
  )
    tail += 1;
  const middle = editScript(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
  const kinds: DiffLine["kind"][] = [
    ...Array<"same">(head).fill("same"),
    ...middle,
    ...Array<"same">(tail).fill("same"),
  ];
  let left = 0;
  let right = 0;
  return kinds.map((kind): DiffLine => {
    if (kind === "added") return { kind, text: b[right++] ?? "", after: right };
    if (kind === "removed") return { kind, text: a[left++] ?? "", before: left };
    right += 1;
    return { kind, text: a[left++] ?? "", before: left, after: right };
  });
}

function editScript(a: readonly string[], b: readonly string[]): DiffLine["kind"][] {
  const replace = () => [
    ...Array<"removed">(a.length).fill("removed"),
    ...Array<"added">(b.length).fill("added"),
  ];
  if (a.length === 0 || b.length === 0) return replace();
  const most = Math.min(a.length + b.length, MOST_STEPS);
  // furthest[k]: how far in `a` the best path on diagonal k (place in a − place in b) has come.
  let furthest = new Map<number, number>([[1, 0]]);
  const trace: Map<number, number>[] = [];
  for (let steps = 0; steps <= most; steps += 1) {
    trace.push(new Map(furthest));
    const next = new Map(furthest);
    for (let k = -steps; k <= steps; k += 2) {
      const down = k === -steps || (k !== steps && at(furthest, k - 1) < at(furthest, k + 1));
      let x = down ? at(furthest, k + 1) : at(furthest, k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      next.set(k, x);
      if (x >= a.length && x - k >= b.length) return backtrack(trace, a.length, b.length);
    }
    furthest = next;
  }
  return replace();
}

const at = (furthest: ReadonlyMap<number, number>, k: number) => furthest.get(k) ?? -1;

function backtrack(trace: readonly Map<number, number>[], endA: number, endB: number): DiffLine["kind"][] {
  const kinds: DiffLine["kind"][] = [];
  let x = endA;
  let y = endB;
  for (let steps = trace.length - 1; steps >= 0; steps -= 1) {
    const furthest = trace[steps] ?? new Map<number, number>();
    const k = x - y;
    const down = k === -steps || (k !== steps && at(furthest, k - 1) < at(furthest, k + 1));
    const beforeK = down ? k + 1 : k - 1;
    const beforeX = at(furthest, beforeK);
    const beforeY = beforeX - beforeK;
    while (x > beforeX && y > beforeY && x > 0 && y > 0) {
      kinds.push("same");
      x -= 1;
      y -= 1;
    }
    if (steps === 0) break;
    kinds.push(down ? "added" : "removed");
    x = beforeX;
    y = beforeY;
  }
  return kinds.reverse();
}

/** How a value is written down to be compared: fields in order of name, so that only what differs differs. */
export function comparable(value: unknown): string {
  if (typeof value === "string") return value;
  return JSON.stringify(sorted(value), null, 2) ?? "";
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([name, inner]) => [name, sorted(inner)]),
  );
}
