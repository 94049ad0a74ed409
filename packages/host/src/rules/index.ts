export {
  type ApprovalRules,
  approvalRules,
  type NewRule,
} from "./approval-rules.ts";
export type { RuleQuestion } from "./match.ts";
export { type ApprovalRule, ruleBody } from "./rule.ts";
