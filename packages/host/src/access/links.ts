import { newId } from "trackside/engine";
import { type Builder, changed, type Operation, rows, type Work } from "../store/index.ts";
import type { AccessLinksTable } from "../store/tables.ts";
import { digestOfSecret, isSecret, newSecret } from "./secret.ts";

/** The secret goes into a link; the store has its digest only. */
export interface AccessLink {
  readonly id: string;
  readonly secret: string;
  /** Unix ms. */
  readonly expires_at: number;
}

/** A link that is used, expired, replaced by a finished setup, or was never made. Which of these is nobody's business. */
export interface LinkFailure {
  readonly failed: "link";
}

export type LinkPurpose = "setup" | "open";

export function makeLink(given: {
  readonly tenant: string;
  readonly purpose: LinkPurpose;
  readonly user: string | null;
  readonly at: number;
  readonly expires_at: number;
}): Work<AccessLink> {
  return function* (db) {
    const { tenant, purpose, user, at, expires_at } = given;
    const secret = newSecret();
    const id = newId("link");
    const digest = digestOfSecret(secret);
    const row = { digest, id, tenant, purpose, user_id: user, created_at: at, expires_at };
    yield* changed(db.insertInto("access_links").values(row));
    return { id, secret, expires_at };
  };
}

/** Takes a link away, for whoever comes first: of two at once the other one finds nothing. */
export function* takeLink(
  db: Builder,
  secret: string,
  purpose: LinkPurpose,
  at: number,
): Operation<AccessLinksTable | undefined> {
  const [link] = yield* rows(
    db
      .deleteFrom("access_links")
      .where("digest", "=", digestOfSecret(secret))
      .where("purpose", "=", purpose)
      .where("expires_at", ">", at)
      .returningAll(),
  );
  return link;
}

/** The link, if it would work now. */
export function findLink(db: Builder, secret: string, purpose: LinkPurpose, at: number) {
  const links = db.selectFrom("access_links").selectAll().where("digest", "=", digestOfSecret(secret));
  return links.where("purpose", "=", purpose).where("expires_at", ">", at);
}

export function linkWorks(secret: string, purpose: LinkPurpose, at: number): Work<boolean> {
  return function* (db) {
    return isSecret(secret) && (yield* rows(findLink(db, secret, purpose, at))).length > 0;
  };
}
