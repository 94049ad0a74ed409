import { isRecord, snakeOf } from "./agent-config.ts";
import { AgentConfigError, messageOf } from "./errors.ts";
import type { Hook } from "./hooks/hook-manager.ts";
import type { MemberHook, ParallelGroup, PostHook, PreHook } from "./hooks/pipeline-hooks.ts";
import { parallel } from "./hooks/pipeline-hooks.ts";
import { isRail, type Rail, type RailOptions } from "./rails/rail.ts";
import type { AgentDefinition } from "./schema/agent.ts";
import type { JsonObject } from "./schema/json.ts";
import { HOOK_POINTS, type HookPoint } from "./schema/points.ts";
import { isPlain } from "./schema/preview.ts";
import { type ConfigIssue, issue } from "./schema/problems.ts";
import type { TransformerFactory } from "./stream/transform.ts";
import type { SchemaLike } from "./tools/compile-schema.ts";

/** Makes a rail from the options of a definition. `settings` are what the definition says beside them. */
export interface RailFactory {
  (options: JsonObject, settings: RailOptions & { readonly name?: string }): Rail;
  readonly about?: RailAbout;
}

/** Makes a hook of the pipeline, a transformer or a point hook from the options of a definition. */
export interface HookFactory {
  (options: JsonObject, settings: HookSettings): PipelineThing | Hook;
  readonly about?: HookAbout;
}

/** What a factory says of itself, for the forms that its options are written in. It checks them itself all the same. */
interface FactoryAbout {
  /** A sentence or two for whoever chooses it. */
  readonly description: string;
  /** What its options are: zod, any Standard Schema with a JSON form, or JSON Schema of an object. */
  readonly options?: SchemaLike;
  /** Where what it makes runs unless a definition says otherwise. */
  readonly points?: readonly HookPoint[];
}

export interface RailAbout extends FactoryAbout {
  /** Where among the rails of a point, unless a definition says otherwise. */
  readonly priority?: number;
}

export interface HookAbout extends FactoryAbout {
  /** Where in `hooks` of a definition it may stand: `point` is `on`, `member` a place in a parallel group. */
  readonly kind?: "pre" | "member" | "post" | "stream" | "point";
}

export interface HookSettings {
  readonly durable?: boolean;
  readonly critical?: boolean;
  readonly timeoutMs?: number;
}

/** A transformer as an agent holds it. */
export interface StreamHook extends TransformerFactory {
  readonly kind: "stream";
}

/** Names a way to make transformers. @example streamTransformer("shout", () => ({ push: (t) => t.toUpperCase(), flush: () => "" })) */
export function streamTransformer(name: string, create: TransformerFactory["create"]): StreamHook {
  return Object.freeze({ kind: "stream", name, create });
}

type PipelineThing = PreHook | MemberHook | PostHook | StreamHook | ParallelGroup;
type Inline = Rail | PipelineThing | Hook;

/** Everything that guards an agent, made and in order. */
export interface Guards {
  readonly rails: readonly Rail[];
  readonly pre: readonly (PreHook | ParallelGroup)[];
  readonly post: readonly PostHook[];
  readonly stream: readonly TransformerFactory[];
  readonly on: readonly {
    readonly point: HookPoint;
    readonly hook: Hook;
    readonly timeoutMs: number | undefined;
  }[];
  /** What JSON cannot name. */
  readonly inline: readonly string[];
  /** Names that nothing is registered under. */
  readonly missing: readonly string[];
}

export interface GuardRegistry {
  readonly rails?: Readonly<Record<string, RailFactory>> | undefined;
  readonly hooks?: Readonly<Record<string, HookFactory>> | undefined;
}

/** A config whose inline rails and hooks are replaced by descriptions, with the things themselves by path. */
export interface Taken {
  readonly config: unknown;
  readonly inline: ReadonlyMap<string, Inline>;
}

/** Takes the things themselves out of a config in code, so that the rest of it is plain data. */
export function takeInline(config: unknown): Taken {
  const inline = new Map<string, Inline>();
  try {
    if (!isRecord(config) || !isPlain(config)) return { config, inline };
    const out: Record<string, unknown> = { ...config };
    if (Array.isArray(config["rails"])) {
      out["rails"] = config["rails"].map((entry, i) =>
        isRail(entry) ? describeRail(entry, `rails[${i}]`, inline) : entry,
      );
    }
    if (isRecord(config["hooks"])) out["hooks"] = takeHooks(config["hooks"], inline);
    return { config: out, inline };
  } catch {
    return { config, inline: new Map() }; // something in it throws when it is read; the definition's check says what
  }
}

function describeRail(rail: Rail, path: string, inline: Map<string, Inline>): object {
  inline.set(path, rail);
  const { name, on, priority, mode, onError, timeoutMs } = rail;
  return { use: name, name, on: [...on], priority, mode, onError, timeoutMs };
}

function takeHooks(hooks: Record<string, unknown>, inline: Map<string, Inline>): object {
  const out: Record<string, unknown> = { ...hooks };
  for (const phase of ["pre", "post", "stream"]) {
    const list = hooks[phase];
    if (!Array.isArray(list)) continue;
    out[phase] = list.map((entry, i) =>
      isThing(entry) ? describeHook(entry, `hooks.${phase}[${i}]`, inline) : entry,
    );
  }
  if (isRecord(hooks["on"])) {
    out["on"] = Object.fromEntries(
      Object.entries(hooks["on"]).map(([point, list]) => [
        point,
        Array.isArray(list)
          ? list.map((entry, i) =>
              typeof entry === "function" ? describeHook(entry, `hooks.on.${point}[${i}]`, inline) : entry,
            )
          : list,
      ]),
    );
  }
  return out;
}

function isThing(entry: unknown): entry is PipelineThing {
  return isRecord(entry) && ["pre", "member", "post", "stream", "parallel"].includes(String(entry["kind"]));
}

function describeHook(thing: PipelineThing | Hook, path: string, inline: Map<string, Inline>): object {
  inline.set(path, thing);
  if (typeof thing !== "function" && thing.kind === "parallel")
    return { parallel: thing.members.map(({ name }) => ({ use: name })) };
  return { use: thing.name || "(anonymous)" };
}

/** Makes what a definition names, or takes what was given in its place. */
export function bindGuards(
  definition: Pick<AgentDefinition, "rails" | "hooks">,
  inline: Taken["inline"],
  registry: GuardRegistry,
  issues: ConfigIssue[],
): Guards {
  const missing: string[] = [];
  const make = new Maker(inline, registry, issues, missing);
  const rails = definition.rails.flatMap((ref, i) => make.rail(ref, `rails[${i}]`));
  for (const [i, rail] of rails.entries()) {
    if (rails.findIndex((known) => known.name === rail.name) < i)
      issues.push(issue(`rails[${i}]`, rail.name, "each name once"));
  }
  const { pre = [], post = [], stream = [], on = {} } = definition.hooks;
  return {
    rails,
    pre: pre.flatMap((ref, i) => make.pre(ref, `hooks.pre[${i}]`)),
    post: post.flatMap((ref, i) => make.hook(ref, `hooks.post[${i}]`, "post")),
    stream: stream.flatMap((ref, i) => make.hook(ref, `hooks.stream[${i}]`, "stream")),
    on: HOOK_POINTS.flatMap((point) =>
      (on[point] ?? []).flatMap((ref, i) =>
        make
          .point(ref, `hooks.on.${point}[${i}]`)
          .map((hook) => ({ point, hook, timeoutMs: ref.timeout_ms })),
      ),
    ),
    inline: [...inline.values()].map(nameInline),
    missing,
  };
}

type Hooks = NonNullable<AgentDefinition["hooks"]>;
type HookRef = NonNullable<Hooks["post"]>[number];
type PreRef = NonNullable<Hooks["pre"]>[number];
type RailRef = AgentDefinition["rails"][number];
type Kinds = { pre: PreHook; member: MemberHook; post: PostHook; stream: StreamHook };

class Maker {
  readonly #inline: Taken["inline"];
  readonly #registry: GuardRegistry;
  readonly #issues: ConfigIssue[];
  readonly #missing: string[];

  constructor(inline: Taken["inline"], registry: GuardRegistry, issues: ConfigIssue[], missing: string[]) {
    this.#inline = inline;
    this.#registry = registry;
    this.#issues = issues;
    this.#missing = missing;
  }

  rail(ref: RailRef, path: string): Rail[] {
    const given = this.#inline.get(path);
    if (isRail(given)) return [given];
    const factory = this.#find(this.#registry.rails, ref.use, path, "rail");
    if (factory === undefined) return [];
    const { options = {}, name, on, priority, mode, on_error, timeout_ms } = ref;
    const settings = defined({ name, on, priority, mode, onError: on_error, timeoutMs: timeout_ms });
    const made = this.#made(`${path}.options`, options, () => factory(options, settings), isRail, "a rail");
    return this.#obeyed(made, settings, path, ref.use);
  }

  pre(ref: PreRef, path: string): (PreHook | ParallelGroup)[] {
    const given = this.#inline.get(path);
    if (isThing(given) && (given.kind === "pre" || given.kind === "parallel")) return [given];
    if (!("parallel" in ref)) return this.hook(ref, path, "pre");
    const members = ref.parallel.flatMap((one, i) => this.hook(one, `${path}.parallel[${i}]`, "member"));
    return members.length > 0 ? [parallel(...members)] : [];
  }

  hook<K extends keyof Kinds>(ref: HookRef, path: string, kind: K): Kinds[K][] {
    const isKind = (made: unknown): made is Kinds[K] => isThing(made) && made.kind === kind;
    const given = this.#inline.get(path);
    if (given !== undefined) {
      if (isKind(given)) return [given];
      this.#issues.push(issue(path, nameInline(given), `a ${kind} hook`));
      return [];
    }
    const factory = this.#find(this.#registry.hooks, ref.use, path, "hook");
    if (factory === undefined) return [];
    const settings = settingsOf(ref);
    const made = this.#made(
      `${path}.options`,
      ref.options ?? {},
      () => factory(ref.options ?? {}, settings),
      isKind,
      `a ${kind} hook`,
    );
    return this.#obeyed(made, settings, path, ref.use);
  }

  point(ref: HookRef, path: string): Hook[] {
    const isHook = (made: unknown): made is Hook => typeof made === "function";
    const given = this.#inline.get(path);
    if (isHook(given)) return [given];
    const factory = this.#find(this.#registry.hooks, ref.use, path, "hook");
    if (factory === undefined) return [];
    return this.#made(
      `${path}.options`,
      ref.options ?? {},
      () => factory(ref.options ?? {}, settingsOf(ref)),
      isHook,
      "a function (ctx) => void",
    );
  }

  /** Without a registry the name stands for whoever loads the agent; a run of it is refused until then. */
  #find<F>(
    known: Readonly<Record<string, F>> | undefined,
    use: string,
    path: string,
    what: string,
  ): F | undefined {
    const factory = known !== undefined && Object.hasOwn(known, use) ? known[use] : undefined;
    if (factory !== undefined) return factory;
    if (known === undefined) this.#missing.push(`${what} "${use}"`);
    else
      this.#issues.push(
        issue(
          `${path}.use`,
          use,
          `a registered ${what} (${Object.keys(known).join(", ") || "there are none"})`,
        ),
      );
    return undefined;
  }

  /** What a definition says beside the options is not for a factory to forget. */
  #obeyed<T extends object>(made: T[], settings: object, path: string, use: string): T[] {
    for (const [key, said] of Object.entries(settings)) {
      const ignored = made.some((one) => JSON.stringify(Reflect.get(one, key)) !== JSON.stringify(said));
      if (ignored)
        this.#issues.push(
          issue(`${path}.${snakeOf(key)}`, said, `no such setting (the factory of "${use}" ignores it)`),
        );
    }
    return made;
  }

  #made<T>(
    path: string,
    options: JsonObject,
    make: () => unknown,
    is: (made: unknown) => made is T,
    what: string,
  ): T[] {
    try {
      const made = make();
      if (is(made)) return [made];
      this.#issues.push(issue(path, options, `options of a factory that makes ${what}`));
    } catch (error) {
      // A factory that reports problems of its own options has said more than we could.
      if (error instanceof AgentConfigError)
        this.#issues.push(...error.issues.map((found) => below(path, found)));
      else this.#issues.push(issue(path, options, messageOf(error)));
    }
    return [];
  }
}

function below(path: string, found: ConfigIssue): ConfigIssue {
  const at = found.path === "(root)" ? path : `${path}.${found.path}`;
  return { ...found, path: at, message: found.message.replace(found.path, at) };
}

function settingsOf({ durable, critical, timeout_ms }: HookRef): HookSettings {
  return defined({ durable, critical, timeoutMs: timeout_ms });
}

/** Only what was said, so that a factory's own defaults stand. */
function defined<T extends object>(settings: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const said = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(said) as { [K in keyof T]?: Exclude<T[K], undefined> }; // the same keys, less the silent ones
}

function nameInline(thing: Inline): string {
  if (isRail(thing)) return `the rail "${thing.name}"`;
  if (typeof thing === "function") return `the hook "${thing.name || "(anonymous)"}"`;
  return thing.kind === "parallel"
    ? `the group of hooks ${thing.members.map(({ name }) => `"${name}"`).join(", ")}`
    : `the hook "${thing.name}"`;
}
