import type { PointInputs, Surroundings } from "../hooks/context.ts";
import { WRITABLE } from "../hooks/context.ts";
import { Inputs } from "../hooks/inputs.ts";
import type { HookPoint } from "../schema/points.ts";
import { Dispatch, type Dispatched, type Entry, type Session } from "./dispatch.ts";

/** What a dispatch by hand is given: the inputs of the point, and as much of the surroundings as its hooks look at. */
export type DispatchData<P extends HookPoint> = { readonly inputs: PointInputs[P] } & Partial<Surroundings>;

/** Runs hooks and rails outside a run, as tests and manual wiring do. */
export async function dispatchAlone<P extends HookPoint>(
  entries: readonly Entry[],
  point: P,
  data: DispatchData<P>,
): Promise<Dispatched> {
  const values: Record<string, unknown> = { ...data.inputs };
  const inputs = new Inputs(point, values);
  const outcome = await new Promise<Dispatched>((resolve) =>
    new Dispatch(entries, inputs, aloneSession(data, resolve)).run(),
  );
  for (const field of WRITABLE[point] ?? []) {
    const changed = inputs.read(field);
    if (changed !== values[field]) Object.assign(data.inputs, { [field]: changed });
  }
  return outcome;
}

function aloneSession(data: Partial<Surroundings>, finished: Session["finished"]): Session {
  const missing = (what: string) => () =>
    Promise.reject(new Error(`ctx.${what} needs a run; this dispatch was made by hand`));
  return {
    // Outside a run some of it is not there; a hook that needs it is told by its own types what to pass.
    ...({
      agent: undefined,
      scope: { tenant: "default" },
      runId: "",
      turnRef: "",
      attempt: 1,
      ...data,
    } as Surroundings),
    idempotencyKey: "",
    state: {},
    now: () => 0,
    roughly: () => 0,
    enter: () => {},
    finished,
    reserve: missing("reserve()"),
    ask: missing("model()"),
  };
}
