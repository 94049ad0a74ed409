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

/** Why behaviours with a tag do not run, or fail, on some engines. */
export interface Exception {
  readonly tag: string;
  readonly engines: readonly EngineName[];
  readonly reason: string;
  /** For a known defect: the behaviours run, and must fail with a message that matches. */
  readonly fails?: RegExp;
}

/** Behaviours, and the engines that must show them. */
export interface ConformanceSuite<Make = MakeEngine> {
  readonly title: string;
  readonly engines: readonly EngineName[];
  readonly behaviours: readonly Behaviour<Make>[];
  readonly exceptions: readonly Exception[];
}

/**
 * The behaviours of a suite that run on an engine: all of them, except those whose tags are an exception there. The check of
 * a known defect fails once the behaviour is right, so that the exception is removed with the defect.
 */
export function behavioursFor<Make>(
  suite: ConformanceSuite<Make>,
  engine: EngineName,
): readonly Behaviour<Make>[] {
  return suite.behaviours.flatMap((one) => {
    const exception = exceptionFor(suite, engine, one);
    if (exception === undefined) return [one];
    return exception.fails === undefined ? [] : [failing(one, exception.fails)];
  });
}

function failing<Make>(one: Behaviour<Make>, fails: RegExp): Behaviour<Make> {
  return {
    ...one,
    async check(make) {
      try {
        await one.check(make);
      } catch (error) {
        if (fails.test(String(error))) return;
        throw error;
      }
      throw new Error("A known defect is gone: remove its exception from the suite.");
    },
  };
}

/** Why a behaviour does not run, or fails, on an engine; `undefined` when it runs. */
export function exceptionFor<Make>(
  { exceptions, engines }: ConformanceSuite<Make>,
  engine: EngineName,
  { tags }: Behaviour<Make>,
): Exception | undefined {
  if (!engines.includes(engine)) throw new Error(`The suite does not list the engine "${engine}".`);
  return exceptions.find((one) => one.engines.includes(engine) && tags.includes(one.tag));
}
