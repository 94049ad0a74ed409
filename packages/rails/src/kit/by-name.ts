import type { Rail, Registry } from "trackside";
import type { RailSettings } from "./make-rail.ts";

/** Makes a rail or a hook from what a serialized agent says of it. */
export type RailFactory = NonNullable<Registry["rails"]>[string];
export type HookFactory = NonNullable<Registry["hooks"]>[string];

/** A rail's factory for the registry: its options are checked by itself, so any JSON may be tried. */
export function railByName(make: (options: never, settings: RailSettings) => Rail): RailFactory {
  return (options, settings) => make(options as never, settings);
}
