import { existsSync, readFileSync } from "node:fs";
import * as nodeModule from "node:module";
import { fileURLToPath } from "node:url";
import * as vm from "node:vm";
import { type Engine, type EngineOptions, engineOf } from "../local/engine.ts";
import { LocalWorld } from "../local/local-world.ts";
import type { runTurn as RunTurn } from "../turn/run-turn.ts";

/**
 * An engine whose loop runs in a context with the bare language and nothing else: no clock, no random source, no timers,
 * no `crypto`, `structuredClone`, `AbortSignal`, `process` or `Buffer`. That is what a workflow sandbox offers. Node must
 * be started with `--experimental-vm-modules`.
 */
export async function sandboxEngine(options: EngineOptions = {}): Promise<Engine> {
  const { runTurn } = await loadInSandbox<{ runTurn: typeof RunTurn }>(loopUrl());
  return engineOf(options, (run, turn) => {
    const world = new LocalWorld(run);
    return { ended: runTurn(run.agent.pinned, turn, world), cancel: (reason) => world.cancelRun(reason) };
  });
}

/** What the language itself brings but a deterministic sandbox must not. */
const FORBIDDEN = `
  const refuse = (what) => () => { throw new Error(what + " is not there in a workflow sandbox"); };
  globalThis.Date = new Proxy(function Date() {}, { apply: refuse("Date"), construct: refuse("Date"), get: refuse("Date") });
  Math.random = refuse("Math.random");
  delete globalThis.WebAssembly; delete globalThis.SharedArrayBuffer; delete globalThis.Atomics;
  delete globalThis.WeakRef; delete globalThis.FinalizationRegistry; delete globalThis.console;
`;

/** Loads a module, and what it imports from beside it, into a bare context. */
export async function loadInSandbox<Exports>(url: URL): Promise<Exports> {
  if (vm.SourceTextModule === undefined) {
    throw new Error("sandboxEngine needs node --experimental-vm-modules");
  }
  const context = vm.createContext({});
  vm.runInContext(FORBIDDEN, context);
  const loaded = new Map<string, vm.SourceTextModule>();
  const load = (from: URL): vm.SourceTextModule => {
    const known = loaded.get(from.href);
    if (known !== undefined) return known;
    const made = new vm.SourceTextModule(sourceOf(from), { context, identifier: from.href });
    loaded.set(from.href, made);
    return made;
  };
  const root = load(url);
  await root.link((specifier, from) => {
    if (!specifier.startsWith("."))
      throw new Error(`the loop imports ${specifier}, which a workflow sandbox may not have`);
    return load(new URL(specifier, from.identifier));
  });
  await root.evaluate();
  return root.namespace as Exports; // the caller knows what it asked for
}

/** In the source it is a neighbour; in the published package a file of its own beside the entry. */
function loopUrl(): URL {
  const source = new URL("../turn/run-turn.ts", import.meta.url);
  return existsSync(source) ? source : new URL("../loop.js", import.meta.url);
}

/** By URL: every engine compiles the modules into a context of its own, from sources that are read once. */
const sources = new Map<string, string>();

function sourceOf(url: URL): string {
  const known = sources.get(url.href);
  if (known !== undefined) return known;
  const text = readFileSync(fileURLToPath(url), "utf8");
  const source = url.pathname.endsWith(".ts") ? nodeModule.stripTypeScriptTypes(text) : text;
  sources.set(url.href, source);
  return source;
}
