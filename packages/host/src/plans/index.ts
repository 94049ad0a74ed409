export { erasePlanOutputs } from "./erase.ts";
export { PlanConflictError } from "./errors.ts";
export type {
  PlanBoard,
  PlanContent,
  PlanGeneration,
  PlanInput,
  PlannedStep,
  PlanOrigin,
  PlanRecord,
  PlanState,
  PlanStep,
  PlanVersion,
  PlanWork,
  StepState,
  Verification,
} from "./plan.ts";
export { planBody, planStepBody, planVersionBody, planWorkBody } from "./plan-rows.ts";
export { type Planner, Plans } from "./plans.ts";
