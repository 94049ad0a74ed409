import type { Behaviour, MakeEngine } from "./behaviour.ts";

/** The engines of this repository, as the conformance table names them. */
export const ENGINES = {
  local: "local",
  hostile: "hostile",
  sandbox: "sandbox",
  sqlite: "SQLite",
  postgres: "PostgreSQL",
  temporal: "Temporal",
} as const;

export type EngineName = keyof typeof ENGINES;

/** Why behaviours with a tag do not run on some engines. */
export interface Exception {
  readonly tag: string;
  readonly engines: readonly EngineName[];
  readonly reason: string;
}

/** Behaviours, and the engines that must show them. */
export interface ConformanceSuite<Make = MakeEngine> {
  readonly title: string;
  readonly engines: readonly EngineName[];
  readonly behaviours: readonly Behaviour<Make>[];
  readonly exceptions: readonly Exception[];
}

/** The behaviours of a suite that run on an engine: all of them, except those whose tags are an exception there. */
export function behavioursFor<Make>(
  suite: ConformanceSuite<Make>,
  engine: EngineName,
): readonly Behaviour<Make>[] {
  return suite.behaviours.filter((one) => exceptionFor(suite, engine, one) === undefined);
}

/** Why a behaviour does not run on an engine; `undefined` when it does. */
export function exceptionFor<Make>(
  { exceptions, engines }: ConformanceSuite<Make>,
  engine: EngineName,
  { tags }: Behaviour<Make>,
): Exception | undefined {
  if (!engines.includes(engine)) throw new Error(`The suite does not list the engine "${engine}".`);
  return exceptions.find((one) => one.engines.includes(engine) && tags.includes(one.tag));
}
