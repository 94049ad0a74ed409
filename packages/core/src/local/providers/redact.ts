const HIDDEN = "[redacted]";

// Keys as the providers make them, then whatever a word in front of it calls a secret.
const KEYS =
  /\b(?:sk|pk|rk|gsk|xai|key|hf|nvapi|ghp|gho|glpat|r8|tgp|csk|fw|pplx)[-_][A-Za-z0-9_\-*.…]{8,}|\bAIza[\w-]{10,}|\b(?:AKIA|ASIA|ABSK)[A-Za-z0-9+/=]{12,}|\beyJ[\w-]{8,}(?:\.[\w-]*){0,2}/g;
const AFTER_A_SCHEME = /\b(bearer|basic)(\s+["']?)([^\s"',;)}\]&]{6,})/gi;
const AFTER_A_NAME =
  /\b(authorization|x-api-key|api[-_ ]?key|access[-_ ]?token|token|secret|password|key)(\s*(?:provided|is|was)?\s*["']?\s*[:=]\s*["']?|\s+["']?)([^\s"',;)}\]&]{6,})/gi;
const LONG_RUN = /[A-Za-z0-9_+/=-]{24,}/g;
// Support asks for these, and they open nothing.
const REQUEST_ID = /^(?:req|resp|msg|run|chatcmpl|cmpl|gen|toolu|call)[-_]/;

/** Removes what looks like a key, so that a provider's message can be shown and stored. */
export function redact(text: string): string {
  const hideValue = (whole: string, name: string, between: string, value: string) =>
    looksSecret(value) ? `${name}${between}${HIDDEN}` : whole;
  return text
    .replace(KEYS, (key) => (/[\d*]/.test(key) ? HIDDEN : key))
    .replace(AFTER_A_SCHEME, hideValue)
    .replace(AFTER_A_NAME, hideValue)
    .replace(LONG_RUN, (run) => (isOpaque(run) ? HIDDEN : run));
}

/** "key not found" and "token 128000" are sentences; "key 4f9a81c2" is not. */
function looksSecret(value: string): boolean {
  return /\d/.test(value) && (/[A-Za-z]/.test(value) || value.length >= 16) && /^[\w+/=.*…~-]+$/.test(value);
}

/** Model names are long too, but made of short words: no part of them is a long mix of letters and digits. */
function isOpaque(run: string): boolean {
  if (REQUEST_ID.test(run)) return false;
  return run.split(/[-_/=]/).some((part) => part.length >= 20 && /\d/.test(part) && /[A-Za-z]/.test(part));
}
