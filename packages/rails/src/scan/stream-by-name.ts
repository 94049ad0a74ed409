import type { HookFactory, StreamHook } from "trackside";

/** A transformer's factory for the registry: its options are checked by itself, so any JSON may be tried. */
export function streamByName(make: (options: never) => StreamHook): HookFactory {
  return (options) => make(options as never);
}
