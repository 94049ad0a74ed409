export * from "./conformance/index.ts";
export { type Answers, type FakeWorld, fakeWorld } from "./fake-world.ts";
export { type HostileOptions, hostileEngine } from "./hostile-engine.ts";
export { type ManualClock, manualClock } from "./manual-clock.ts";
export { sandboxEngine } from "./sandbox-engine.ts";
export * from "./scripted-model.ts";
