import { resolve } from "node:path";
import type { Bus, Store } from "@trackside/host";
import { messageOf } from "../approvals/approver.ts";
import { Complaint } from "../complaint.ts";
import type { Io } from "../io.ts";
import { shown } from "../load-module.ts";
import type { TemporalValues } from "./options.ts";

type Host = typeof import("@trackside/host");

const STORE = "trackside.db";

/** The store and the bus of an agent in a file. An address may hold a password, so it is never said again. */
export function storesFor(
  host: Host,
  values: TemporalValues,
  { env, cwd }: Io,
): { readonly store: Store; readonly bus?: Bus } {
  const store = storeAt(host, values.store ?? (env.TRACKSIDE_STORE || STORE), cwd);
  const url = values.bus ?? (env.TRACKSIDE_BUS || undefined);
  if (url === undefined) return { store };
  if (!/^rediss?:\/\//.test(url))
    throw new Complaint("--bus: the address of Redis expected, redis://host[:port], or rediss:// for TLS.");
  return { store, bus: made("--bus", () => host.redisBus(url)) };
}

function storeAt({ postgres, sqlite }: Host, given: string, cwd: string): Store {
  if (/^postgres(ql)?:\/\//.test(given)) return made("--store", () => postgres(given));
  const path = given.replace(/^sqlite:(\/\/)?/, "");
  if (/^\w+:\/\//.test(path) || path === "")
    throw new Complaint("--store: postgres://… or a file for SQLite expected, such as trackside.db.");
  if (path === ":memory:")
    throw new Complaint("--store: a store in memory is no store for workers, which could not see it.");
  return made("--store", () => sqlite(shown(resolve(cwd, path), cwd)));
}

function made<T>(option: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new Complaint(`${option}: ${messageOf(error)}`);
  }
}

/** Whether only processes on this machine can share it. */
export function isOfOneMachine(store: Store): boolean {
  return store.reach?.kind === "sqlite";
}
