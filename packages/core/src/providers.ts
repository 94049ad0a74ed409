// Models by name: what an engine does with `provider:model` strings, for those who want it themselves.
export { discoverLocal, type LocalServer } from "./local/providers/discover.ts";
export { type LoadedModel, loadModel, type ProviderSettings } from "./local/providers/registry.ts";
