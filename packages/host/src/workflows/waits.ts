import { createHmac, timingSafeEqual } from "node:crypto";
import { type Approval, type Json, TracksideError } from "trackside";
import { findApproval } from "../approvals/records.ts";
import type { DurableEngine } from "../journal/durable-engine.ts";
import type { Cipher, Key } from "../secrets/index.ts";

/**
 * Nodes that wait until somebody sends something to their address. The address is the permission: it holds a token that
 * only this host can make, of one wait and of nothing else.
 */
export class Waits {
  readonly #engine: DurableEngine;
  readonly #cipher: Cipher;

  constructor(engine: DurableEngine, cipher: Cipher) {
    this.#engine = engine;
    this.#cipher = cipher;
  }

  /** What its address has to hold; undefined where an approval is no such wait. */
  tokenOf(approval: Approval): string | undefined {
    if (!isWait(approval)) return undefined;
    const key = this.#cipher.keyring.current();
    return `${key.id}.${signature(key, approval.id).toString("base64url")}`;
  }

  /**
   * Goes on with what was sent. The first one wins, as with every decision (L4): the same again is answered the same, and
   * anything else is told so. Nobody learns from a wrong token whether there is such a wait.
   */
  async submit(id: string, token: string, response: Json): Promise<Approval> {
    if (!this.#fits(id, token)) throw unknownWait();
    await this.#engine.open();
    const found = await this.#engine.store.read((db) => findApproval(db, id));
    if (found === undefined || !isWait(found.approval)) throw unknownWait();
    return this.#engine.decide(found.tenant, id, { choice: "submit", response, by: "webhook" });
  }

  #fits(id: string, token: string): boolean {
    const dot = token.lastIndexOf(".");
    const key = this.#cipher.keyring.find(token.slice(0, Math.max(0, dot)));
    if (key === undefined) return false;
    const wanted = signature(key, id).toString("base64url");
    const given = Buffer.from(token.slice(dot + 1));
    return given.length === wanted.length && timingSafeEqual(given, Buffer.from(wanted));
  }
}

/** A node that waits for a call, and not for a person's decision. */
function isWait({ kind, choices }: Approval): boolean {
  return kind === "workflow_node" && choices.includes("submit");
}

function signature(key: Key, id: string): Buffer {
  return createHmac("sha256", key.bytes).update(`trackside wait v1\0${id}`).digest();
}

function unknownWait(): TracksideError {
  return new TracksideError("not_found", "There is no such wait, or the address is not whole.");
}
