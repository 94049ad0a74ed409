import type { HookFactory, RailFactory } from "trackside";
import { callLimits, callLimitsAbout } from "./call-limits/index.ts";
import { injectionTripwire, injectionTripwireAbout } from "./injection-tripwire/index.ts";
import {
  invisibleText,
  invisibleTextAbout,
  invisibleTextStream,
  invisibleTextStreamAbout,
} from "./invisible-text/index.ts";
import { judge, judgeAbout } from "./judge/index.ts";
import { keywords, keywordsAbout, keywordsStream, keywordsStreamAbout } from "./keywords/index.ts";
import { hookByName, railByName } from "./kit/by-name.ts";
import { loopBreaker, loopBreakerAbout } from "./loop-breaker/index.ts";
import { modelFallback, modelFallbackAbout } from "./model-fallback/index.ts";
import { pii, piiAbout, piiStream, piiStreamAbout } from "./pii/index.ts";
import { promptLeak, promptLeakAbout, promptLeakStream, promptLeakStreamAbout } from "./prompt-leak/index.ts";
import { rateLimit, rateLimitAbout } from "./rate-limit/index.ts";
import { resilientTools, resilientToolsAbout } from "./resilient-tools/index.ts";
import { streamByName } from "./scan/stream-by-name.ts";
import { secrets, secretsAbout, secretsStream, secretsStreamAbout } from "./secrets/index.ts";
import { spend, spendAbout } from "./spend/index.ts";
import { toolPolicy, toolPolicyAbout } from "./tool-policy/index.ts";
import { untrustedData, untrustedDataAbout } from "./untrusted-data/index.ts";
import { urlPolicy, urlPolicyAbout, urlPolicyStream, urlPolicyStreamAbout } from "./url-policy/index.ts";
import { verifyOutput, verifyOutputAbout } from "./verify-output/index.ts";

export { type CallLimitsOptions, callLimits } from "./call-limits/index.ts";
export {
  type InjectionSignal,
  type InjectionTripwireOptions,
  injectionTripwire,
} from "./injection-tripwire/index.ts";
export { type InvisibleTextOptions, invisibleText, invisibleTextStream } from "./invisible-text/index.ts";
export { type JudgeOptions, type JudgeSubject, judge } from "./judge/index.ts";
export { type KeywordsOptions, keywords, keywordsStream } from "./keywords/index.ts";
export type { RailSettings } from "./kit/make-rail.ts";
export { type LoopBreakerOptions, loopBreaker } from "./loop-breaker/index.ts";
export {
  type ModelFailureKind,
  type ModelFallbackOptions,
  modelFallback,
} from "./model-fallback/index.ts";
export { type PiiEntity, type PiiOptions, pii, piiStream } from "./pii/index.ts";
export { type PromptLeakOptions, promptLeak, promptLeakStream } from "./prompt-leak/index.ts";
export { type Rate, type RateLimitOptions, rateLimit } from "./rate-limit/index.ts";
export { type ResilientToolsOptions, resilientTools } from "./resilient-tools/index.ts";
export { type SecretsOptions, secrets, secretsStream } from "./secrets/index.ts";
export { type SpendOptions, spend } from "./spend/index.ts";
export {
  type HostLimits,
  type PathLimits,
  type PolicyRule,
  type PolicyVerdict,
  type ToolPolicyOptions,
  toolPolicy,
} from "./tool-policy/index.ts";
export { type UntrustedDataOptions, untrustedData } from "./untrusted-data/index.ts";
export { type UrlPolicyOptions, urlPolicy, urlPolicyStream } from "./url-policy/index.ts";
export {
  type AnswerPattern,
  type CheckAnswer,
  type VerifyOutputOptions,
  verifyOutput,
} from "./verify-output/index.ts";

/** Every ready-made rail by the name a serialized agent uses: `Agent.fromJSON(json, { tools, rails: builtInRails })`. */
export const builtInRails: Readonly<Record<string, RailFactory>> = {
  "call-limits": /* @__PURE__ */ railByName(callLimits, callLimitsAbout),
  "injection-tripwire": /* @__PURE__ */ railByName(injectionTripwire, injectionTripwireAbout),
  "invisible-text": /* @__PURE__ */ railByName(invisibleText, invisibleTextAbout),
  judge: /* @__PURE__ */ railByName(judge, judgeAbout),
  keywords: /* @__PURE__ */ railByName(keywords, keywordsAbout),
  "loop-breaker": /* @__PURE__ */ railByName(loopBreaker, loopBreakerAbout),
  "model-fallback": /* @__PURE__ */ railByName(modelFallback, modelFallbackAbout),
  pii: /* @__PURE__ */ railByName(pii, piiAbout),
  "prompt-leak": /* @__PURE__ */ railByName(promptLeak, promptLeakAbout),
  "rate-limit": /* @__PURE__ */ railByName(rateLimit, rateLimitAbout),
  "resilient-tools": /* @__PURE__ */ railByName(resilientTools, resilientToolsAbout),
  secrets: /* @__PURE__ */ railByName(secrets, secretsAbout),
  spend: /* @__PURE__ */ railByName(spend, spendAbout),
  "tool-policy": /* @__PURE__ */ railByName(toolPolicy, toolPolicyAbout),
  "untrusted-data": /* @__PURE__ */ railByName(untrustedData, untrustedDataAbout),
  "url-policy": /* @__PURE__ */ railByName(urlPolicy, urlPolicyAbout),
};

/** Every ready-made hook by name: `Agent.fromJSON(json, { hooks: builtInHooks })`. */
export const builtInHooks: Readonly<Record<string, HookFactory>> = {
  "invisible-text": /* @__PURE__ */ streamByName(invisibleTextStream, invisibleTextStreamAbout),
  keywords: /* @__PURE__ */ streamByName(keywordsStream, keywordsStreamAbout),
  pii: /* @__PURE__ */ streamByName(piiStream, piiStreamAbout),
  "prompt-leak": /* @__PURE__ */ streamByName(promptLeakStream, promptLeakStreamAbout),
  secrets: /* @__PURE__ */ streamByName(secretsStream, secretsStreamAbout),
  "url-policy": /* @__PURE__ */ streamByName(urlPolicyStream, urlPolicyStreamAbout),
  "verify-output": /* @__PURE__ */ hookByName(verifyOutput, verifyOutputAbout),
};
