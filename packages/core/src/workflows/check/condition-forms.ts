import { isRecord } from "./is-record.ts";
import type { Issues, Path } from "./issues.ts";

/** More of them in one condition, and nobody could say what it decides. */
const MOST_PARTS = 1_000;
const ANY_CONDITION = { left: true, op: "exists" };

/**
 * Sees to it that each part of a condition is of one form. The schema would try every form at every level, which takes
 * forever where a part is of several. A condition that is not so is told, and another put in its place, so that the
 * rest can still be checked.
 */
export function withOneFormEach(raw: unknown, issues: Issues): unknown {
  if (!isRecord(raw) || !isRecord(raw["nodes"])) return raw;
  let changed = false;
  const nodes = Object.entries(raw["nodes"]).map(([id, node]): [string, unknown] => {
    if (!isRecord(node) || node["kind"] !== "condition") return [id, node];
    if (isOfOneForm(node["if"], ["nodes", id, "if"], issues)) return [id, node];
    changed = true;
    return [id, { ...node, if: ANY_CONDITION }];
  });
  return changed ? { ...raw, nodes: Object.fromEntries(nodes) } : raw;
}

function isOfOneForm(condition: unknown, path: Path, issues: Issues): boolean {
  let parts = 0;
  const open: { readonly part: unknown; readonly at: Path }[] = [{ part: condition, at: path }];
  // It grows while it is gone through.
  for (const { part, at } of open) {
    if (!isRecord(part)) continue;
    parts += 1;
    if (parts > MOST_PARTS) {
      issues.tell(path, `a condition of at most ${MOST_PARTS} parts`, "a larger one given");
      return false;
    }
    const forms = ["all", "any", "not", "left"].filter((key) => Object.hasOwn(part, key));
    if (forms.length > 1) {
      issues.tell(
        at,
        "one of `all`, `any`, `not` or a comparison with `left`",
        `${forms.join(" and ")} given`,
      );
      return false;
    }
    for (const key of ["all", "any"]) {
      const inner: unknown = part[key];
      if (Array.isArray(inner))
        for (const [i, one] of inner.entries()) open.push({ part: one, at: [...at, key, i] });
    }
    open.push({ part: part["not"], at: [...at, "not"] });
  }
  return true;
}
