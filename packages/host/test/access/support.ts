import { Access, type AccessLimits, type Credential, type SignedIn } from "../../src/access/index.ts";
import { listAudit } from "../../src/audit/index.ts";
import type { Cipher } from "../../src/secrets/index.ts";
import type { Store } from "../../src/store/index.ts";
import { testCipher } from "../secrets/support.ts";

/** Stores on one new database, each with connections of its own, as processes have. */
export type Stores = (count: number) => Promise<readonly [Store, ...Store[]]>;

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const PASSWORD = "seven brittle kettles";
export const START = 1_800_000_000_000;

/** A hash that takes no time: what it costs is not what these tests are about. */
export const CHEAP = { N: 2 ** 4, r: 1, p: 1 };

export interface Scene {
  readonly access: Access;
  /** The same database as other processes have it. */
  readonly all: readonly Access[];
  readonly store: Store;
  readonly cipher: Cipher;
  readonly clock: { at: number };
  /** What the audit says happened, oldest first. */
  told(tenant?: string): Promise<readonly string[]>;
}

export async function sceneOn(
  stores: Stores,
  { processes = 1, ...limits }: AccessLimits & { readonly processes?: number } = {},
): Promise<Scene> {
  const [store, ...others] = await stores(processes);
  const cipher = testCipher();
  const clock = { at: START };
  const all = [store, ...others].map(
    (one) => new Access({ store: one, cipher, now: () => clock.at, ...limits }, { cost: CHEAP }),
  );
  const [access] = all;
  if (access === undefined) throw new Error("there is always one");
  const told = async (tenant = "default") =>
    (await listAudit(store, tenant, { limit: 1000 })).map(({ action }) => action);
  return { access, all, store, cipher, clock, told };
}

/** The answer of somebody who was let in. */
export function letIn(answer: SignedIn | { readonly failed: string }): SignedIn {
  if ("failed" in answer) throw new Error(`not let in: ${answer.failed}`);
  return answer;
}

/** The value, of which a test knows that it is there. */
export function there<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("nothing there");
  return value;
}

export function facts(credential: Credential | undefined): unknown {
  return credential && [credential.tenant, credential.user.name, credential.role, credential.via];
}
