import { charSet, has, runStart } from "../scan/chars.ts";
import { isMadeUp, readsLikeWords } from "./made-up.ts";

/** What a value is called: `DD_API_KEY=…`, `"password": "…"`, `Authorization: Bearer …`. */
export type Named = "key" | "strong-key" | "service-key" | "password" | "bearer" | "basic";

/** How far back a name is looked for. */
export const NAME_REACH = 64;

const SPACE = charSet(/[ \t]/);
const QUOTE = charSet(/["'`\\]/);
const NAME = charSet(/[A-Za-z0-9_.\- [\]"'`]/);
const SYMBOL = charSet(/[!@#$%^&*_+/-]/);

const PASSWORD = /(?:password|passwd|passphrase|pwd|[_-]pass)$/i;
const KEY =
  /(?:secret|token|credentials?|(?:api|access|secret|auth|account|app|application|signing|encryption|master|service|subscription|storage|license|private)[ _-]?key|[_-]dsn)$/i;
const STRONG_KEY =
  /(?:(?:api|access|secret|auth|account|app|application|service|subscription)[ _-]?key|(?:auth|access|api|refresh|bot|personal)[ _-]?token|client[ _-]?secret|app[ _-]?secret)$/i;
/** Words that end like a secret's name and are none. */
const HARMLESS =
  /(?:next|page|continuation|cursor|sync|csrf|xsrf|public|pub|cancellation|cancel|stop|eos|bos|pad|max|num|min)[ _-]?(?:tokens?|key)$/i;
/** Services whose secrets look like any other id or hash. */
const SERVICE =
  /(?:heroku|datadog|\bdd|twilio|snyk|postmark|mailgun|mailchimp|algolia|cloudflare|\bcf|wandb|deepgram|assemblyai|sentry|sonar|codecov|launchdarkly|fastly|new[_-]?relic|okta|auth0|zendesk|asana|trello|pagerduty|opsgenie|rollbar|bugsnag|segment|mixpanel|amplitude|linkedin|twitter|facebook|spotify|twitch|discord|reddit|coinbase|binance|kraken|kucoin|etherscan|infura|alchemy|cohere|mistral|together|stability|exa|weaviate|qdrant|mongodb|confluent|elastic|vercel|netlify|railway|travis|drone|jenkins|bitbucket|jira|confluence|squarespace|sendbird|messagebird|nexmo|vonage|plaid|lob|shippo|razorpay|paypal|adyen|klarna|mapbox|here|tomtom|openweather|newsapi|rapidapi|airtable|contentful|intercom|freshdesk|hubspot|salesforce|zoom|webex|ngrok|pusher|ably|onesignal|firebase|supabase|azure|aws|gcp|alibaba|tencent|yandex|ibm|oracle|dropbox|box|notion|linear|figma|typeform|docusign|stytch|clerk|workos|statsig|split|optimizely|fullstory|logrocket|loggly|papertrail|sumo|splunk|honeycomb|lightstep|scout|skylight|cloudinary|imgix|uploadcare|mux|vimeo)/i;

/** The last letters of the names above, so that most texts are not looked at any closer. */
const ENDINGS = new Set(["ret", "ken", "ial", "als", "key", "dsn", "ord", "swd", "ase", "pwd", "ass"]);

/** What the value that starts here is called, if that says that it is a secret. */
export function nameOf(text: string, at: number): Named | undefined {
  const header = headerBefore(text, at);
  if (header !== undefined) return header;
  let end = runStart(SYMBOL, text, at, Math.max(0, at - 2));
  end = runStart(QUOTE, text, end, Math.max(0, end - 2));
  end = runStart(SPACE, text, end, Math.max(0, end - 3));
  const sign = signBefore(text, end);
  if (sign === undefined) return undefined;
  end = runStart(SPACE, text, sign, Math.max(0, sign - 3));
  while (end > 0 && (has(QUOTE, text, end - 1) || text[end - 1] === "]")) end--;
  if (!ENDINGS.has(text.slice(Math.max(0, end - 3), end).toLowerCase())) return undefined;
  const name = text.slice(runStart(NAME, text, end, Math.max(0, end - 40)), end);
  if (PASSWORD.test(name)) return "password";
  if (!KEY.test(name) || HARMLESS.test(name)) return undefined;
  if (SERVICE.test(name)) return "service-key";
  return STRONG_KEY.test(name) ? "strong-key" : "key";
}

/** Where the `=`, `:`, `=>`, `:=` or `is` before a value starts. */
function signBefore(text: string, end: number): number | undefined {
  const last = text[end - 1];
  if (last === ":") return end - 1;
  if (last === "=") return text[end - 2] === ":" ? end - 2 : end - 1;
  if (last === ">" && text[end - 2] === "=") return end - 2;
  return last === "s" && text.slice(end - 3, end) === " is" && has(SPACE, text, end) ? end - 3 : undefined;
}

function headerBefore(text: string, at: number): "bearer" | "basic" | undefined {
  if (text[at - 1] !== " ") return undefined;
  const before = text.slice(Math.max(0, at - 7), at).toLowerCase();
  if (before === "bearer ") return "bearer";
  return before.endsWith("basic ") ? "basic" : undefined;
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const HASH = /^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$/i;
/** `process.env.KEY`, `config/path/file.ts`, `my-secret-name`. */
const CODE =
  /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$|^\.{0,2}\/|^(?:md5|sha\d{1,3})[:-]|^[a-z]+(?:[-_][a-z]+)+\d?$/;

/** Whether a value may well be what its name says it is. */
export function isSecretValue(value: string, named: Named): boolean {
  if (named === "basic") return isBasic(value);
  if (named === "password") return isPassword(value);
  if (named === "bearer" && value.length < 20) return false;
  if (value.length < 16 || !/^[A-Za-z0-9_\-+/=.~:%|!]+$/.test(value)) return false;
  if (
    !/[A-Za-z]/.test(value) ||
    readsLikeWords(value) ||
    isMadeUp(value) ||
    CODE.test(value) ||
    isPath(value)
  )
    return false;
  if (UUID.test(value)) return named === "service-key";
  if (HASH.test(value)) return named === "service-key" || named === "strong-key";
  return new Set(value).size >= 8;
}

function isPath(value: string): boolean {
  return value.includes("/") && value.split("/").every((part) => /^[a-z0-9_.@-]*$/.test(part));
}

const WEAK =
  /^(?:password|passw0rd|secret|letmein|qwerty|admin|root|user|test|guest|default|foobar|hunter|none|null|undefined|string|true|false)\d{0,4}[!?.]?$/i;

/** Letters and digits and at least eight of them. Words alone are no password anybody has to keep. */
export function isPassword(value: string): boolean {
  if (value.length < 8 || value.length > 128 || WEAK.test(value)) return false;
  if (/[<>{}()[\]]|^\$|^%[a-z]|\*\*\*/.test(value)) return false; // a place for one, or code
  return /\d/.test(value) && /[A-Za-z]/.test(value) && !isMadeUp(value) && !CODE.test(value);
}

/** `user:password` in base64. */
function isBasic(value: string): boolean {
  if (value.length < 8 || !/^[A-Za-z0-9+/]+={0,2}$/.test(value)) return false;
  const decoded = Buffer.from(value, "base64").toString("latin1");
  return /^[\x20-\x7e]*:[\x20-\x7e]+$/.test(decoded);
}
