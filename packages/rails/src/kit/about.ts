import type { HookAbout, HookPoint, JsonObject, RailAbout } from "trackside";
import * as z from "zod";
import { IN_CODE } from "./options.ts";

/** What is said of a rail or a hook, with the schema its options are read by. */
interface Said {
  /** One plain sentence. */
  readonly description: string;
  readonly options: () => z.ZodType;
}

/** Where a rail stands unless a definition says otherwise. */
interface Placed {
  readonly priority: number;
  readonly on: readonly HookPoint[];
}

/** Options as JSON Schema. */
export interface WithOptions {
  readonly options: JsonObject;
}

/** What a ready-made rail says of itself, for those who make a form of its options. */
export function aboutRail({ description, options }: Said, placed: Placed): RailAbout & WithOptions {
  return lazily(options, { description, points: placed.on, priority: placed.priority });
}

/** The same of a hook or a transformer. */
export function aboutHook(
  { description, options }: Said,
  kind: NonNullable<HookAbout["kind"]>,
): HookAbout & WithOptions {
  return lazily(options, { description, kind });
}

/** Most programs never show a form, so its schema is made when it is read. */
function lazily<T extends object>(schema: () => z.ZodType, said: T): T & WithOptions {
  let made: JsonObject | undefined;
  return Object.defineProperty(said, "options", {
    enumerable: true,
    get: () => {
      made ??= jsonSchemaOf(schema());
      return made;
    },
  }) as T & WithOptions; // with what was just defined
}

/**
 * What options may be in a serialized agent: what is written, with its defaults, and without what only code can give.
 * Conditions that are functions are beside it as `meta` where JSON Schema can say them; the factory knows the others.
 * A default after a transform is of what comes out and would not be shown; `prefault` is of what is written.
 */
function jsonSchemaOf(schema: z.ZodType): JsonObject {
  const made = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      for (const [key, property] of Object.entries(jsonSchema.properties ?? {}))
        if (typeof property === "object" && property[IN_CODE] === true) delete jsonSchema.properties?.[key];
    },
  });
  return JSON.parse(JSON.stringify(made)); // plain data, without what only zod needs
}
