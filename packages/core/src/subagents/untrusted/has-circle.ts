import type { Schema } from "./checking.ts";

/** Whether some schema leads back to itself without a step into the value. */
export function hasCircle(all: Iterable<Schema>): boolean {
  const done = new Set<Schema>();
  for (const first of all) {
    const open: { schema: Schema; next: number }[] = [{ schema: first, next: 0 }];
    const around = new Set<Schema>([first]);
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const inner = done.has(top.schema) ? undefined : top.schema.inPlace[top.next++];
      if (inner === undefined) {
        done.add(top.schema);
        around.delete(top.schema);
        open.pop();
      } else if (around.has(inner)) return true;
      else {
        around.add(inner);
        open.push({ schema: inner, next: 0 });
      }
    }
  }
  return false;
}
