export { type ProviderFacts, Providers, type ProviderTest } from "./providers.ts";
