import type { HookAbout, HookFactory, StreamHook } from "trackside";

/** A transformer's factory for the registry: its options are checked by itself, so any JSON may be tried. */
export function streamByName(make: (options: never) => StreamHook, about: HookAbout): HookFactory {
  const factory: HookFactory = (options) => make(options as never);
  return Object.assign(factory, { about });
}
