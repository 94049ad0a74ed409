import type { HookAbout, HookFactory, HookSettings, Rail, RailAbout, RailFactory } from "trackside";
import type { RailSettings } from "./make-rail.ts";

/** A rail's factory for the registry: its options are checked by itself, so any JSON may be tried. */
export function railByName(
  make: (options: never, settings: RailSettings) => Rail,
  about: RailAbout,
): RailFactory {
  const factory: RailFactory = (options, settings) => make(options as never, settings);
  return Object.assign(factory, { about });
}

/** The same for a hook or a transformer. */
export function hookByName(
  make: (options: never, settings: HookSettings) => ReturnType<HookFactory>,
  about: HookAbout,
): HookFactory {
  const factory: HookFactory = (options, settings) => make(options as never, settings);
  return Object.assign(factory, { about });
}
