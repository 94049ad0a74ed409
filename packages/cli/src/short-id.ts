import type { Trackside } from "@trackside/host";
import { Complaint } from "./complaint.ts";

/** As much of an id as a list shows: the end of it is what differs. */
const SHOWN = 8;
const FEWEST = 4;
const LISTED = 5;
const MOST = 1000;

const NOUNS = {
  runs: { one: "run", list: "trackside runs" },
  approvals: { one: "approval", list: "trackside approvals list" },
  branches: { one: "conversation", list: "trackside conversations" },
  approval_rules: { one: "rule", list: "trackside approvals rules" },
} as const;

/** The end of a run's id, or of an approval's from there on: `k3x9q2ab.1.1`. It is enough to name it. */
export function shortId(id: string): string {
  const dot = id.indexOf(".");
  const head = dot < 0 ? id : id.slice(0, dot);
  const tail = dot < 0 ? "" : withoutRound(id.slice(dot));
  return head.slice(-SHOWN) + tail;
}

/** The id that is meant: given whole, or as a beginning or an end that only one has. */
export async function findId(
  trackside: Trackside,
  table: keyof typeof NOUNS,
  given: string | undefined,
  tenant: string,
): Promise<string> {
  const { one, list } = NOUNS[table];
  if (given === undefined || given === "") throw new Complaint(`Which ${one}? ${list} lists them.`);
  const found = withoutParts(await candidates(trackside, table, given, tenant));
  if (found.includes(given)) return given;
  if (given.length < FEWEST)
    throw new Complaint(`${JSON.stringify(given)} is too short for the id of a ${one}. ${list} lists them.`);
  const [only, ...others] = found;
  if (only === undefined)
    throw new Complaint(`There is no ${one} ${JSON.stringify(given)}. ${list} lists them.`);
  if (others.length === 0) return only;
  const some = found.slice(0, LISTED).join("\n  ");
  const more = found.length > LISTED ? `\n  and ${found.length - LISTED} more` : "";
  throw new Complaint(`${JSON.stringify(given)} is the id of several. Write more of it:\n  ${some}${more}`);
}

async function candidates(
  { engine }: Trackside,
  table: keyof typeof NOUNS,
  given: string,
  tenant: string,
): Promise<string[]> {
  const rows = await engine.store.read(function* (db) {
    // `_` stands for any character here, so what is found is looked at again.
    const query = db
      .selectFrom(table)
      .select("id")
      .where("tenant", "=", tenant)
      .where("id", "like", `%${given.replaceAll("%", "")}%`)
      .orderBy("id", "desc")
      .limit(MOST)
      .compile();
    return (yield query).rows as readonly { id: string }[]; // what was selected
  });
  return rows.map(({ id }) => id).filter((id) => isMeant(id, given));
}

/** The ids of sub-agents begin with that of whoever started them, who is meant. */
function withoutParts(ids: readonly string[]): string[] {
  return ids.filter((id) => !ids.some((other) => id.startsWith(`${other}.`)));
}

function isMeant(id: string, given: string): boolean {
  return id.startsWith(given) || id.endsWith(given) || withoutRound(id).endsWith(given);
}

/** A call is asked about once, mostly: which time it was need not be written. */
function withoutRound(id: string): string {
  return id.replace(/\.(approval|unknown|elicitation)\.\d+$/, "");
}
