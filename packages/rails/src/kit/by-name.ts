import type { HookFactory, HookSettings, Rail, RailFactory } from "trackside";
import type { RailSettings } from "./make-rail.ts";

/** A rail's factory for the registry: its options are checked by itself, so any JSON may be tried. */
export function railByName(make: (options: never, settings: RailSettings) => Rail): RailFactory {
  return (options, settings) => make(options as never, settings);
}

/** The same for a hook or a transformer. */
export function hookByName(
  make: (options: never, settings: HookSettings) => ReturnType<HookFactory>,
): HookFactory {
  return (options, settings) => make(options as never, settings);
}
