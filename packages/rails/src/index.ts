import type { HookFactory, RailFactory } from "trackside";
import { callLimits } from "./call-limits/index.ts";
import { injectionTripwire } from "./injection-tripwire/index.ts";
import { invisibleText, invisibleTextStream } from "./invisible-text/index.ts";
import { judge } from "./judge/index.ts";
import { keywords, keywordsStream } from "./keywords/index.ts";
import { hookByName, railByName } from "./kit/by-name.ts";
import { loopBreaker } from "./loop-breaker/index.ts";
import { modelFallback } from "./model-fallback/index.ts";
import { pii, piiStream } from "./pii/index.ts";
import { promptLeak, promptLeakStream } from "./prompt-leak/index.ts";
import { rateLimit } from "./rate-limit/index.ts";
import { resilientTools } from "./resilient-tools/index.ts";
import { streamByName } from "./scan/stream-by-name.ts";
import { secrets, secretsStream } from "./secrets/index.ts";
import { spend } from "./spend/index.ts";
import { toolPolicy } from "./tool-policy/index.ts";
import { untrustedData } from "./untrusted-data/index.ts";
import { urlPolicy, urlPolicyStream } from "./url-policy/index.ts";
import { verifyOutput } from "./verify-output/index.ts";

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
  "call-limits": railByName(callLimits),
  "injection-tripwire": railByName(injectionTripwire),
  "invisible-text": railByName(invisibleText),
  judge: railByName(judge),
  keywords: railByName(keywords),
  "loop-breaker": railByName(loopBreaker),
  "model-fallback": railByName(modelFallback),
  pii: railByName(pii),
  "prompt-leak": railByName(promptLeak),
  "rate-limit": railByName(rateLimit),
  "resilient-tools": railByName(resilientTools),
  secrets: railByName(secrets),
  spend: railByName(spend),
  "tool-policy": railByName(toolPolicy),
  "untrusted-data": railByName(untrustedData),
  "url-policy": railByName(urlPolicy),
};

/** Every ready-made hook by name: `Agent.fromJSON(json, { hooks: builtInHooks })`. */
export const builtInHooks: Readonly<Record<string, HookFactory>> = {
  "invisible-text": streamByName(invisibleTextStream),
  keywords: streamByName(keywordsStream),
  pii: streamByName(piiStream),
  "prompt-leak": streamByName(promptLeakStream),
  secrets: streamByName(secretsStream),
  "url-policy": streamByName(urlPolicyStream),
  "verify-output": hookByName(verifyOutput),
};
