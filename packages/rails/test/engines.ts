import { type Engine, type EngineOptions, localEngine } from "trackside";
import { hostileEngine } from "trackside/testing";

/** The engine of this process, and the worst that is still correct. */
export const ENGINES: readonly { readonly name: string; make(options?: EngineOptions): Engine }[] = [
  { name: "the local engine", make: (options) => localEngine(options) },
  { name: "the hostile engine", make: (options) => hostileEngine(options) },
];
