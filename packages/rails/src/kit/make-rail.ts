import {
  AgentConfigError,
  defineRail,
  type HookPoint,
  type Rail,
  type RailContext,
  type RailOptions,
  type RailReturn,
} from "trackside";

/** What may be said of any ready-made rail beside its options: in code the second argument, in JSON the other keys. */
export type RailSettings = RailOptions & { readonly name?: string };

interface Made<P extends HookPoint> {
  readonly name: string;
  readonly priority: number;
  /** Where it works. Settings may name some of these, unless it takes all of them to work. */
  readonly on: readonly P[];
  readonly needsAll?: boolean;
  readonly asks?: boolean;
  readonly timeoutMs?: number;
}

/** Makes a ready-made rail: its own defaults, then what the settings say. */
export function makeRail<P extends HookPoint>(
  made: Made<P>,
  settings: RailSettings,
  handle: (ctx: RailContext<P>) => RailReturn | Promise<RailReturn>,
): Rail {
  const { needsAll = false, asks = false, ...own } = made;
  const on = pointsOf(made, needsAll, settings.on);
  const options = { ...own, ...settings, on, asks: asks || (settings.asks ?? false) };
  return defineRail(options, handle);
}

function pointsOf<P extends HookPoint>(
  made: Made<P>,
  needsAll: boolean,
  asked: RailSettings["on"],
): readonly P[] {
  if (asked === undefined) return made.on;
  const chosen = made.on.filter((point) => asked.includes(point));
  const fits = asked.every((point) => made.on.includes(point as P)) && chosen.length > 0; // any point may be asked for
  if (fits && (!needsAll || chosen.length === made.on.length)) return chosen;
  const allowed = needsAll
    ? `nothing: it works at ${made.on.join(", ")} together`
    : `points of ${made.on.join(", ")}`;
  const given = JSON.stringify(asked);
  const message = `on: ${allowed} expected, ${given} given`;
  throw new AgentConfigError(`the rail "${made.name}"`, [{ path: "on", given, allowed, message }]);
}
