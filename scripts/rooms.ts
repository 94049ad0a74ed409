/**
 * Who may import whom: "Packages" of the architecture as data. A room is a package, or a folder of one where the
 * folders have different rights. Importing from one's own room is always allowed.
 */
export interface Room {
  /** Rooms it may import. `core` stands for every room of core, `core/pure` for its pure ones. */
  rooms: readonly string[];
  /** Rooms of which only `import type` is allowed. */
  types?: readonly string[];
  /** Rooms that may only be reached by `import()`. */
  lazyRooms?: readonly string[];
  /** Outside packages it may import, `node:` for Node's own; absent means any (knip checks they are declared). */
  packages?: readonly string[];
  /** With `packages`: whether any other package may be loaded by `import()`. */
  lazyPackages?: boolean;
}

/** Folders of core that may touch the world, and its top: the files users import from. All else there is pure. */
export const impureCoreRooms: readonly string[] = ["core/local", "core/testing", "core/top"];
export const coreTopFiles: readonly string[] = [
  "workflow.ts",
  "workflow-config.ts",
  "agent.ts",
  "agent-config.ts",
  "bind-definition.ts",
  "bind-guards.ts",
  "engine.ts",
  "index.ts",
  "providers.ts",
];

/** Packages whose folders are rooms of their own. */
export const packagesWithRooms: readonly string[] = ["core", "temporal", "server"];

const schemaPackages = ["zod", "@standard-schema/spec", "@cfworker/json-schema"];
const corePackages = [...schemaPackages, "@ai-sdk/provider", "node:"];

export const rooms: Readonly<Record<string, Room>> = {
  "core/pure": { rooms: ["core/pure"], packages: schemaPackages },
  // Workflow code runs the loop, and zod would be most of its bundle: schema/ is there for its types only.
  "core/turn": { rooms: ["core/pure"], types: ["core/schema"], packages: ["@standard-schema/spec"] },
  // Providers and tokenizers are optional peers, so they load when first used.
  "core/local": { rooms: ["core/pure"], packages: corePackages, lazyPackages: true },
  "core/top": { rooms: ["core/pure", "core/local"], packages: corePackages },
  "core/testing": { rooms: ["core"] },
  host: { rooms: ["core"] },
  rails: { rooms: ["core"] },
  "temporal/common": { rooms: ["core/pure"] },
  "temporal/workflow": {
    rooms: ["core/pure", "temporal/common"],
    packages: ["@temporalio/workflow", "@temporalio/common"],
  },
  "temporal/worker": { rooms: ["core", "host", "temporal/common"], types: ["temporal/workflow"] },
  "temporal/client": { rooms: ["core", "host", "temporal/common"], types: ["temporal/workflow"] },
  server: { rooms: ["core", "host", "rails", "server", "temporal/client"] },
  // Browsers run the client, so it takes of the contract what is plain data, and of core nothing but types.
  "server/client": { rooms: ["server/contract"], types: ["core"], packages: [] },
  // The HTTP contract is what the server answers with; the browser needs its types, not its code.
  web: { rooms: ["core/schema", "server/client"], types: ["server/contract", "core/top"] },
  cli: { rooms: ["core", "host", "rails", "server"], lazyRooms: ["temporal/client", "temporal/worker"] },
};

/** Pairs that never import each other, whatever the table above allows. */
export const strangers: readonly (readonly [string, string])[] = [["core/hooks", "core/context"]];

/** What the running code of a file must not pull in, however long the way. */
export const neverReaches: readonly { from: string; packageName: string; why: string }[] = [
  {
    from: "packages/core/src/turn/run-turn.ts",
    packageName: "zod",
    why: "the loop runs inside workflow sandboxes and does not parse",
  },
  {
    from: "packages/server/src/client/index.ts",
    packageName: "zod",
    why: "browsers load the client with the first page",
  },
];

/** Globals that a workflow sandbox lacks, or whose answer a replay could not repeat. */
export const forbiddenGlobals: readonly string[] = [
  "AbortController",
  "AbortSignal",
  "Buffer",
  "Date",
  "EventSource",
  "FinalizationRegistry",
  "WeakRef",
  "WebSocket",
  "XMLHttpRequest",
  "clearImmediate",
  "clearInterval",
  "clearTimeout",
  "console",
  "crypto",
  "eval",
  "fetch",
  "globalThis",
  "performance",
  "process",
  "queueMicrotask",
  "require",
  "setImmediate",
  "setInterval",
  "setTimeout",
  "structuredClone",
];
