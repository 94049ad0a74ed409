import type { Cipher } from "../secrets/cipher.ts";
import { messageOf } from "../store/message-of.ts";
import { rows, type Store, type Work } from "../store/store.ts";
import type { AuditTable } from "../store/tables.ts";
import { HEAD_LOST } from "./append.ts";
import { GENESIS, hashOf } from "./entry.ts";
import { readHead } from "./head.ts";
import { Suspects } from "./suspects.ts";

export interface AuditProblem {
  /** The row it is about; where several are missing, the first. */
  readonly n: number;
  /** The last one, where it is about several. */
  readonly to?: number;
  readonly kind:
    | "edited"
    | "deleted"
    | "inserted"
    | "reordered"
    | "truncated"
    | "head_lost"
    | "head"
    | "anchor";
  readonly message: string;
}

/** Where a chain ended at some time, noted somewhere else. */
export interface AuditAnchor {
  readonly n: number;
  readonly hash: string;
}

export interface AuditReport {
  readonly ok: boolean;
  /** How many rows were looked at. */
  readonly rows: number;
  /** Where the chain ends now; note it elsewhere and give it back as `anchor` next time. */
  readonly end: AuditAnchor;
  /** At most 100, by row. */
  readonly problems: readonly AuditProblem[];
}

const CHUNK = 500;
const LISTED = 100;

/**
 * Walks a tenant's chain and says what is wrong with which row.
 *
 * What it finds: any row that was edited, deleted, inserted or moved, since each row's hash covers all its columns and the
 * hash before it; rows cut off at the end or added there by somebody else, since the encrypted head says where the chain
 * ends; a chain that was written anew from some row on, hashes and all, for the same reason (then only the row before the
 * head tells, and the place of the edit is known as far as the first broken link).
 *
 * What it cannot find by itself: whoever puts back an older copy of the rows and of the head together, as a restored backup
 * does, or removes both, shows a chain that is whole, only shorter; and whoever has the host's key can write any chain. Against both there is
 * `anchor`: a row's number and hash, kept where the host cannot write.
 */
export async function verifyAudit(
  store: Store,
  cipher: Cipher,
  tenant: string,
  options: { readonly anchor?: AuditAnchor } = {},
): Promise<AuditReport> {
  const suspects = new Suspects();
  const problems: AuditProblem[] = [];
  const { anchor } = options;

  // Rows are only ever added, each with its head: rows up to the head seen before must be there, and rows beyond the head
  // seen after must not.
  const before = await headOf(store, cipher, tenant);
  let last: { n: number; hash: string; recomputed: string } = { n: 0, hash: GENESIS, recomputed: GENESIS };
  let counted = 0;
  for (let from = Number.MIN_SAFE_INTEGER; ; ) {
    const chunk = await store.read(rowsAfter(tenant, from));
    for (const row of chunk) {
      counted += 1;
      from = row.n;
      const recomputed = hashOf(row);
      if (row.n < 1) {
        problems.push({
          n: row.n,
          kind: "inserted",
          message: `row ${row.n} was inserted: a chain begins with row 1`,
        });
        continue;
      }
      for (let n = last.n + 1; n < row.n && n - last.n <= LISTED; n++) suspects.missing(n);
      if (row.n > last.n + 1) problems.push(gap(last.n + 1, row.n - 1));
      if (recomputed !== row.hash) suspects.broken(row);
      else if (row.n === last.n + 1 && row.previous !== last.hash && row.previous !== last.recomputed)
        suspects.unlinked(Math.max(last.n, 1), "next");
      if (row.action === HEAD_LOST) problems.push(headLost(row));
      if (anchor?.n === row.n && anchor.hash !== row.hash) problems.push(offAnchor(anchor));
      if (before.head?.n === row.n && before.head.hash !== row.hash && before.head.hash !== recomputed)
        suspects.unlinked(row.n, "head");
      last = { n: row.n, hash: row.hash, recomputed };
    }
    if (chunk.length < CHUNK) break;
  }

  const after = await headOf(store, cipher, tenant);
  for (const problem of [before.problem, after.problem]) {
    if (problem !== undefined && !problems.some(({ kind }) => kind === "head")) problems.push(problem);
  }
  const until = before.head?.n ?? 0;
  if (until > last.n) problems.push(truncated(last.n + 1, until));
  if (after.head !== undefined && last.n > after.head.n) problems.push(beyond(after.head.n + 1, last.n));
  if (after.head === undefined && after.problem === undefined && counted > 0) problems.push(headless(last.n));
  if (anchor !== undefined && anchor.n > last.n && until <= last.n)
    problems.push(truncated(last.n + 1, anchor.n));

  const found = [...suspects.explain(), ...problems].sort((a, b) => a.n - b.n);
  return {
    ok: found.length === 0,
    rows: counted,
    end: { n: last.n, hash: last.hash },
    problems: found.slice(0, LISTED),
  };
}

function rowsAfter(tenant: string, from: number): Work<readonly AuditTable[]> {
  return function* (db) {
    return yield* rows(
      db
        .selectFrom("audit")
        .selectAll()
        .where("tenant", "=", tenant)
        .where("n", ">", from)
        .orderBy("n")
        .limit(CHUNK),
    );
  };
}

async function headOf(store: Store, cipher: Cipher, tenant: string) {
  try {
    return { head: await store.read(readHead(cipher, tenant)), problem: undefined };
  } catch (error) {
    const message = `the end of the chain is not known, so rows cut off there would not be missed: ${messageOf(error)}`;
    return { head: undefined, problem: { n: 0, kind: "head", message } satisfies AuditProblem };
  }
}

function gap(from: number, to: number): AuditProblem {
  return from === to
    ? { n: from, kind: "deleted", message: `row ${from} was deleted` }
    : { n: from, to, kind: "deleted", message: `rows ${from} to ${to} were deleted` };
}

function truncated(from: number, to: number): AuditProblem {
  const what = from === to ? `row ${from} was` : `rows ${from} to ${to} were`;
  const message = `${what} cut off at the end: the chain went on to row ${to}`;
  return { n: from, ...(from === to ? {} : { to }), kind: "truncated", message };
}

function beyond(from: number, to: number): AuditProblem {
  const what = from === to ? `row ${from} was` : `rows ${from} to ${to} were`;
  return {
    n: from,
    ...(from === to ? {} : { to }),
    kind: "inserted",
    message: `${what} added at the end by somebody else: the chain ends with row ${from - 1}`,
  };
}

function headless(n: number): AuditProblem {
  const message = `the signed end of the chain was removed: rows after row ${n} may be missing`;
  return { n, kind: "head", message };
}

function headLost({ n }: AuditTable): AuditProblem {
  const message = `before row ${n} the signed end of the chain was lost: rows may be missing there, and earlier digests cannot be checked any more`;
  return { n, kind: "head_lost", message };
}

function offAnchor({ n }: AuditAnchor): AuditProblem {
  return { n, kind: "anchor", message: `row ${n} is not the row whose hash was noted` };
}
