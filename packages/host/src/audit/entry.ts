import { createHash, createHmac } from "node:crypto";
import type { Json } from "trackside";
import * as z from "zod";
import { versioned } from "../store/rows/versioned.ts";
import type { AuditTable } from "../store/tables.ts";
import { canonical } from "./canonical.ts";

/** Something that is to be remembered: who did what, to which thing, and how it was before and after. */
export interface AuditEvent {
  readonly tenant: string;
  /** Unix ms. */
  readonly at: number;
  /** What happened: `approval.decided`. */
  readonly action: string;
  /** Who: a person's id, `rule:<id>`, `deadline`, `engine`. */
  readonly by: string;
  /** Ids of what it happened to. Never content: what a user or a model wrote goes into `before` and `after`. */
  readonly about: Readonly<Record<string, string | number | boolean | null>>;
  /** How things were and how they are now. Only a keyed digest of each is kept. */
  readonly before?: Json;
  readonly after?: Json;
}

/** A row of the audit as people see it. */
export interface AuditEntry {
  readonly tenant: string;
  readonly n: number;
  readonly at: number;
  readonly action: string;
  readonly by: string;
  readonly about: Readonly<Record<string, string | number | boolean | null>>;
  readonly before: string | null;
  readonly after: string | null;
  readonly previous: string;
  readonly hash: string;
}

/** What comes before the first row. */
export const GENESIS = "0".repeat(64);

const version1 = z.object({
  v: z.literal(1),
  by: z.string(),
  about: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  before: z.string().nullable(),
  after: z.string().nullable(),
});

/** Bodies of the audit's rows. */
export const auditBody = versioned({ name: "audit", current: 1, versions: { 1: version1 }, upgrade: {} });

/** The body of a row: digests and ids. */
export function writeBody(event: AuditEvent, key: Uint8Array): string {
  const about = Object.fromEntries(
    Object.entries(event.about).map(([name, id]) => [name, typeof id === "string" ? short(id, key) : id]),
  );
  return auditBody.write({
    v: 1,
    by: short(event.by, key),
    about,
    before: event.before === undefined ? null : contentDigest(event.before, key),
    after: event.after === undefined ? null : contentDigest(event.after, key),
  });
}

export function readEntry(row: AuditTable): AuditEntry {
  const { tenant, n, at, action, previous, hash } = row;
  const { by, about, before, after } = auditBody.read(row.body, `${tenant} ${n}`);
  return { tenant, n, at, action, by, about, before, after, previous, hash };
}

/** Ties a row to all rows before it. Every column is in it, the body letter by letter. */
export function hashOf(row: Omit<AuditTable, "hash">): string {
  const { tenant, n, at, action, body: text, previous } = row;
  const entry = canonical({ tenant, n, at, action, body: text });
  return createHash("sha256").update(previous).update("\n").update(entry).digest("hex");
}

/**
 * The digest of content. It is keyed, so that nobody who has the rows alone can find out by trying what was in a
 * conversation that is deleted; whoever has the key and the content can still show that they belong together.
 */
export function contentDigest(value: Json, key: Uint8Array): string {
  return `hmac-sha256:${createHmac("sha256", key).update(canonical(value)).digest("hex")}`;
}

const LONGEST_ID = 200;

/** An id that long is somebody's text: it is cut, and its digest says which it was. */
function short(id: string, key: Uint8Array): string {
  return id.length <= LONGEST_ID ? id : `${contentDigest(id, key)} (${id.length} characters)`;
}
