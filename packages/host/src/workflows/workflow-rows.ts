import * as z from "zod";
import { type DefinitionKind, definitionJson } from "../definitions/kind.ts";
import { versioned } from "../store/rows/versioned.ts";

const workflow1 = z.object({ v: z.literal(1), definition: definitionJson, by: z.string() });

const version1 = workflow1.extend({
  note: z.string().optional(),
  restored_from: z.number().int().optional(),
});

/** A workflow as it is now. */
export const workflowBody = versioned({
  name: "workflows",
  current: 1,
  versions: { 1: workflow1 },
  upgrade: {},
});
export const workflowVersionBody = versioned({
  name: "workflow_versions",
  current: 1,
  versions: { 1: version1 },
  upgrade: {},
});

/** Nothing stands beside a workflow's definition. */
export type BesideWorkflow = Readonly<Record<never, never>>;

export const WORKFLOWS: DefinitionKind<BesideWorkflow> = {
  noun: "workflow",
  body: workflowBody,
  version: workflowVersionBody,
  beside: () => ({}),
};
