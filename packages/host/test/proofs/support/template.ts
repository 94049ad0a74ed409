import { join } from "node:path";
import { sqlite } from "../../../src/store/index.ts";

/** Makes a database file that has its tables and nothing in them. */
export async function makeTemplate(dir: string): Promise<string> {
  const path = join(dir, "template.db");
  const store = sqlite(path, { sync: "normal" });
  await store.open();
  await store.close();
  return path;
}
