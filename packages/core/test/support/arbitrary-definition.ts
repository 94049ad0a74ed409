import * as fc from "fast-check";
import { HOOK_POINTS, KNOWN_PROVIDERS } from "trackside";
import { REGISTRY } from "./definitions.ts";

type Fields = Record<string, unknown>;

const optional = <T>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }, required: (keyof T)[]) =>
  fc.record(shape, { requiredKeys: required });

const plainText = fc.string({ maxLength: 12 });
const word = fc.stringMatching(/^[a-z][a-z0-9_-]{0,11}$/);
const whole = (min: number, max = 1_000_000) => fc.integer({ min, max });

/** JSON of the user's own, in which `__proto__` is the one key that is refused. */
const options = fc
  .dictionary(plainText, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 })
  .filter((value) => !JSON.stringify(value).includes('"__proto__":'));

const name = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 20 })
  .filter((text) => /^[^\s/](?:[^/\n]{0,126}[^\s/])?$/.test(text));

const model = fc
  .tuple(fc.constantFrom(...KNOWN_PROVIDERS), fc.stringMatching(/^[a-zA-Z0-9.:/_-]{1,20}$/))
  .map(([provider, id]) => `${provider}:${id}`);

const toolNames = fc.subarray(REGISTRY.tools.map((tool) => tool.name));

const rail = optional(
  {
    use: word,
    name,
    on: fc.subarray([...HOOK_POINTS]),
    options,
    priority: fc.integer(),
    mode: fc.constantFrom("enforce", "shadow"),
    on_error: fc.constantFrom("abort", "continue"),
    timeout_ms: whole(1),
  },
  ["use"],
);

const hook = optional(
  { use: word, options, durable: fc.boolean(), critical: fc.boolean(), timeout_ms: whole(1) },
  ["use"],
);

const hooks = optional(
  {
    pre: fc.array(fc.oneof(hook, fc.record({ parallel: fc.array(hook, { minLength: 1, maxLength: 3 }) })), {
      maxLength: 3,
    }),
    post: fc.array(hook, { maxLength: 2 }),
    stream: fc.array(hook, { maxLength: 2 }),
    on: fc.dictionary(fc.constantFrom(...HOOK_POINTS), fc.array(hook, { maxLength: 2 }), { maxKeys: 3 }),
  },
  [],
);

const settings = fc.dictionary(word, fc.oneof(plainText, fc.record({ secret: word })), { maxKeys: 3 });
const choice = {
  include: fc.array(word, { maxLength: 2 }),
  exclude: fc.array(word, { maxLength: 2 }),
  rename: fc.dictionary(word, plainText, { maxKeys: 2 }),
  trusted: fc.boolean(),
};
const serverName = fc.stringMatching(/^[A-Za-z0-9-]{1,12}$/);
const servers = fc.uniqueArray(
  fc.oneof(
    optional(
      {
        name: serverName,
        command: word,
        args: fc.array(plainText, { maxLength: 2 }),
        env: settings,
        ...choice,
      },
      ["name", "command"],
    ),
    optional({ name: serverName, url: fc.webUrl(), headers: settings, ...choice }, ["name", "url"]),
  ),
  { maxLength: 3, selector: (server) => server.name },
);

const injected = fc.dictionary(
  fc
    .stringMatching(/^[A-Za-z0-9_.-]{1,12}$/)
    .filter((key) => !["target", "__proto__", "constructor", "prototype"].includes(key)),
  plainText,
  { maxKeys: 3 },
);

/** Any valid definition whose tools are those of the registry. Plain JSON, with `-0` and the like already gone. */
export const definition: fc.Arbitrary<Fields> = optional(
  {
    name,
    model,
    instructions: plainText,
    max_steps: whole(1),
    temperature: fc.option(fc.double({ min: 0, max: 2, noNaN: true })),
    max_tokens: fc.option(whole(1)),
    planning_enabled: fc.boolean(),
    planning_model: fc.option(model),
    planning_instructions: plainText,
    budget_awareness: fc.option(
      fc.oneof(
        fc.constant("per-message"),
        whole(0, 100).map((n) => `limit:${n}`),
      ),
    ),
    hitl_tools: toolNames,
    emit_mcp_progress: fc.boolean(),
    injected_tool_args: injected,
    allow_parallel_subagents: fc.boolean(),
    max_parallel_subagents: whole(1, 7),
    tools: fc.constantFrom(null, REGISTRY.tools.map((tool) => tool.name).toReversed()),
    mcp_servers: servers,
    handoffs: fc.uniqueArray(word, { maxLength: 3 }),
    rails: fc.array(rail, { maxLength: 3 }),
    hooks,
    output_schema: fc.option(options),
    context_window_tokens: fc.option(whole(1)),
    injection_reserve_tokens: whole(0),
    hitl_timeout_seconds: fc.option(fc.double({ min: 0.001, max: 1e6, noNaN: true })),
    max_regenerations: whole(0),
    allow_self_spawn: fc.boolean(),
    offload_above_bytes: whole(0),
    stream_release: fc.constantFrom("auto", "live", "after_rails"),
    fallback_models: fc.array(model, { maxLength: 3 }),
    audit_transient: fc.boolean(),
  },
  ["name", "model"],
).map((value) => JSON.parse(JSON.stringify(value)));

/** One change to one place of a definition, or one key more. */
export interface Mutation {
  readonly at: number;
  readonly change: "remove" | "replace" | "add" | "wrap" | "repeat";
  readonly key: string;
  readonly value: unknown;
}

export const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(),
  change: fc.constantFrom("remove", "replace", "add", "wrap", "repeat"),
  key: fc.oneof(
    fc.constantFrom(
      "__proto__",
      "constructor",
      "prototype",
      "toString",
      "toJSON",
      "",
      "a.b",
      "0",
      "maxSteps",
      "use",
    ),
    plainText,
  ),
  value: fc.oneof(
    fc.constantFrom<unknown>(
      null,
      true,
      0,
      -1,
      0.5,
      1e300,
      -1e300,
      1e21,
      "",
      " ",
      "limit:07",
      "\u0000",
      "\ud800",
      [],
      {},
    ),
    fc.jsonValue({ maxDepth: 2 }),
  ),
});

/** Applies a mutation to a copy. What it makes is still JSON, also with a key `__proto__` of its own. */
export function mutated(original: Fields, { at, change, key, value }: Mutation): unknown {
  const root: Fields = JSON.parse(JSON.stringify(original));
  const places = placesIn(root);
  const { holder, key: here } = places[at % places.length] ?? { holder: root, key: "name" };
  const current: unknown = Reflect.get(holder, here);
  if (change === "replace") put(holder, here, value);
  else if (change === "wrap") put(holder, here, [current]);
  else if (change === "add")
    put(typeof current === "object" && current !== null ? current : root, key, value);
  else if (change === "repeat" && Array.isArray(holder)) holder.push(current);
  else if (Array.isArray(holder)) holder.splice(Number(here), 1);
  else Reflect.deleteProperty(holder, here);
  return JSON.parse(JSON.stringify(root));
}

interface Place {
  readonly holder: object;
  readonly key: string;
}

function placesIn(holder: object): Place[] {
  return Object.entries(holder).flatMap(([key, inner]) => [
    { holder, key },
    ...(typeof inner === "object" && inner !== null ? placesIn(inner) : []),
  ]);
}

function put(holder: object, key: string, value: unknown): void {
  if (Array.isArray(holder) && !/^\d+$/.test(key)) holder.push(value);
  else Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}
