export type { CatalogAgent, CatalogWorkflow, WorkflowCatalog } from "./catalog.ts";
export type { WorkflowFigures } from "./figures.ts";
export type { WorkflowBinding } from "./in-code.ts";
export type { ReadyWorkflow, StartedWorkflow, StartWorkflow } from "./start.ts";
export type { Waits } from "./waits.ts";
export {
  type WorkflowRecord,
  type WorkflowRow,
  Workflows,
  type WorkflowVersion,
  type WorkflowVersionFacts,
} from "./workflows.ts";
