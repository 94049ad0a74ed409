import type { JsonObject } from "trackside";
import * as z from "zod";
import type { RowCodec } from "../store/rows/versioned.ts";

/** What is stored of a definition as it is now; `B` is what stands beside it, not in it. */
export type Body<B> = B & { readonly v: 1; readonly definition: JsonObject; readonly by: string };

/** The same of one of its versions. */
export type VersionBody<B> = Body<B> & {
  readonly note?: string | undefined;
  readonly restored_from?: number | undefined;
};

/** Agents and workflows are stored alike: by name in a tenant, with every version they had. This is how they differ. */
export interface DefinitionKind<B extends object> {
  readonly noun: "agent" | "workflow";
  readonly body: RowCodec<Body<B>>;
  readonly version: RowCodec<VersionBody<B>>;
  /** Picks what stands beside the definition. */
  readonly beside: (body: Body<B>) => B;
}

/** In a row. As old as its last save: it is checked when it is bound. */
export const definitionJson = z.custom<JsonObject>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  { error: "a definition (object)" },
);
