export { PlanConflictError } from "./errors.ts";
export type {
  PlanBoard,
  PlanContent,
  PlanGeneration,
  PlanInput,
  PlannedStep,
  PlanRecord,
  PlanStep,
  PlanVersion,
  PlanWork,
} from "./plan.ts";
export { type Planner, Plans } from "./plans.ts";
