import { type CharSet, charSet } from "../scan/chars.ts";

/** How the tokens of a service begin, what they are made of, and how long they are. */
export interface TokenRule {
  readonly service: string;
  readonly prefix: string;
  readonly set: CharSet;
  readonly min: number;
  /** Undefined for tokens of any length: they count once `min` is reached. */
  readonly max: number | undefined;
  /** What the part after the prefix looks like, where that says more than its length. */
  readonly shape: RegExp | undefined;
}

const alnum = charSet(/[A-Za-z0-9]/);
const word = charSet(/[A-Za-z0-9_]/);
const safe = charSet(/[A-Za-z0-9_-]/);
const hex = charSet(/[a-f0-9]/);
const anyHex = charSet(/[A-Fa-f0-9]/);
const lower = charSet(/[a-z0-9]/);
const upper = charSet(/[A-Z0-9]/);
const base64 = charSet(/[A-Za-z0-9+/=]/);
const dotted = charSet(/[A-Za-z0-9_.=-]/);
const path = charSet(/[A-Za-z0-9_/-]/);
const address = charSet(/[A-Za-z0-9_/@.-]/);

const UUID = "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}";

const rules: TokenRule[] = [];

/** Tokens of a service: prefixes, what follows them, and how much of it. */
function tokens(service: string, prefixes: string, set: CharSet, min: number, max = min): void {
  for (const prefix of prefixes.split(" ")) rules.push({ service, prefix, set, min, max, shape: undefined });
}

/** Tokens without an end that is known beforehand. */
function long(service: string, prefixes: string, set: CharSet, min: number): void {
  for (const prefix of prefixes.split(" "))
    rules.push({ service, prefix, set, min, max: undefined, shape: undefined });
}

/** Tokens that are made of parts. */
function parts(service: string, prefixes: string, set: CharSet, shape: string, max: number): void {
  for (const prefix of prefixes.split(" "))
    rules.push({ service, prefix, set, min: Math.ceil(max / 3), max, shape: new RegExp(`^(?:${shape})$`) });
}

// Cloud providers
tokens("aws", "AKIA ASIA ABIA ACCA A3TX", upper, 16);
tokens("aws-bedrock", "ABSK", base64, 100, 300);
long("aws-bedrock", "bedrock-api-key-", base64, 40);
tokens("google-api", "AIza", safe, 35);
tokens("google-oauth", "GOCSPX-", safe, 28);
long("google-oauth", "ya29.", dotted, 40);
long("google-oauth", "1//0", safe, 40);
tokens("azure-devops", "AZDO", alnum, 76, 84);
tokens("alibaba", "LTAI", alnum, 12, 26);
tokens("tencent", "AKID", alnum, 32, 36);
tokens("yandex", "AQVN", safe, 35, 38);
tokens("yandex", "YCA", safe, 36, 40);
tokens("digitalocean", "dop_v1_ doo_v1_ dor_v1_", hex, 64);
tokens("heroku", "HRKU-AA", safe, 58);
parts("heroku", "HRKU-", safe, UUID, 36);
tokens("fly-io", "fo1_", safe, 43);
long("fly-io", "fm1a_ fm1r_ fm2_", base64, 100);
tokens("netlify", "nfp_ nfc_ nfo_ nfu_", alnum, 36, 44);
tokens("vercel", "vcp_ vci_ vca_ vcr_ vck_", alnum, 24, 60);
tokens("render", "rnd_", alnum, 28, 34);
tokens("scalingo", "tk-us-", safe, 48);
tokens("cloudflare", "cfut_ cfat_ cfk_", safe, 36, 60);
parts("cloudflare", "v1.0-", safe, "[a-f0-9]{24}-[a-f0-9]{146}", 171);

// Code, packages, builds
tokens("github", "ghp_ gho_ ghu_ ghs_ ghr_", alnum, 36);
tokens("github", "github_pat_", word, 82);
tokens("gitlab", "glpat- gldt- glft- glffct- glsoat- glrt-", safe, 20);
parts("gitlab", "glpat- glrt-", dotted, "(?:t\\d_)?[A-Za-z0-9_-]{27,300}\\.[0-9a-z]{2}[0-9a-z]{7}", 320);
parts("gitlab", "glcbt-", safe, "[0-9a-zA-Z]{1,5}_[0-9a-zA-Z_-]{20}", 26);
tokens("gitlab", "glptt-", hex, 40);
tokens("gitlab", "glimt-", safe, 25);
tokens("gitlab", "glagent-", safe, 50);
tokens("gitlab", "gloas-", safe, 64);
tokens("gitlab", "GR1348941", safe, 20);
tokens("bitbucket", "ATBB", alnum, 32);
long("atlassian", "ATATT3 ATCTT3", dotted, 80);
tokens("npm", "npm_", alnum, 36);
long("pypi", "pypi-AgEIcHlwaS5vcmc pypi-AgENdGVzdC5weXBpLm9yZw", safe, 50);
tokens("rubygems", "rubygems_", hex, 48);
tokens("crates-io", "cio", alnum, 32);
tokens("nuget", "oy2", lower, 43);
tokens("clojars", "CLOJARS_", alnum, 60);
tokens("docker-hub", "dckr_pat_ dckr_oat_", safe, 27, 36);
tokens("artifactory", "AKCp", alnum, 69);
tokens("artifactory", "cmVmd", alnum, 59);
tokens("circleci", "CCIPAT_ CCIPRJ_", word, 40, 80);
tokens("buildkite", "bkua_", hex, 40);
tokens("sonarqube", "squ_ sqp_ sqa_", hex, 40);
tokens("sourcegraph", "sgp_", hex, 40);
parts("sourcegraph", "sgp_", word, "(?:[a-fA-F0-9]{16}|local)_[a-fA-F0-9]{40}", 57);
tokens("octopus-deploy", "API-", upper, 25, 34);
tokens("pulumi", "pul-", hex, 40);
tokens("vault", "hvs. hvb. hvr.", safe, 90, 400);
tokens("vault", "hvs.", alnum, 24);
tokens("doppler", "dp.pt. dp.ct. dp.sa. dp.scim. dp.audit.", alnum, 40, 44);
parts("doppler", "dp.st.", dotted, "[a-z0-9_-]{2,35}\\.[A-Za-z0-9]{40,44}", 80);
long("1password", "ops_eyJ", base64, 200);
tokens("age", "AGE-SECRET-KEY-1", upper, 58);
tokens("prefect", "pnu_", alnum, 36);
tokens("infracost", "ico-", alnum, 32);
tokens("openshift", "sha256~", safe, 43);
tokens("tailscale", "tskey-auth- tskey-api- tskey-client-", safe, 24, 70);
tokens("adobe", "p8e-", alnum, 32);
parts("harness", "pat. sat.", dotted, "[A-Za-z0-9_-]{22}\\.[A-Za-z0-9]{24}\\.[A-Za-z0-9]{20}", 68);

// Models
tokens("openai", "sk-", alnum, 48);
tokens("openai", "sk-proj- sk-svcacct- sk-admin- sk-None-", safe, 40, 220);
tokens("anthropic", "sk-ant-api03- sk-ant-admin01- sk-ant-oat01- sk-ant-sid01- sk-ant-sid02-", safe, 80, 130);
tokens("openrouter", "sk-or-v1-", hex, 64);
tokens("deepseek", "sk-", lower, 32);
parts("langfuse", "sk-lf-", safe, UUID, 36);
parts("langsmith", "lsv2_pt_ lsv2_sk_", word, "[a-f0-9]{32}_[a-f0-9]{10}", 43);
tokens("hugging-face", "hf_", alnum, 34, 40);
tokens("hugging-face", "api_org_", alnum, 34);
tokens("replicate", "r8_", alnum, 37);
tokens("groq", "gsk_", alnum, 48, 56);
tokens("xai", "xai-", alnum, 76, 84);
tokens("perplexity", "pplx-", alnum, 40, 56);
tokens("fireworks", "fw_", alnum, 20, 48);
tokens("nvidia", "nvapi-", safe, 60, 70);
tokens("cerebras", "csk-", lower, 40, 56);
tokens("pinecone", "pcsk_", word, 60, 80);
tokens("tavily", "tvly-", safe, 28, 48);
tokens("firecrawl", "fc-", hex, 32);
tokens("elevenlabs", "sk_", hex, 48);
tokens("voyage", "pa-", safe, 40, 48);
tokens("jina", "jina_", alnum, 60, 70);
tokens("databricks", "dapi", hex, 32);
parts("databricks", "dapi", safe, "[a-f0-9]{32}-\\d", 34);

// Messages and mail
parts(
  "slack",
  "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo-",
  safe,
  "(?:\\d{1,2}-)?(?:\\d{8,14}-){1,3}[A-Za-z0-9-]{18,64}",
  120,
);
parts("slack", "xoxa- xoxr- xoxe-", safe, "(?:\\d-)?[0-9A-Za-z]{24,180}", 184);
parts("slack", "xoxe.xoxb- xoxe.xoxp-", safe, "\\d-[A-Za-z0-9]{100,180}", 184);
parts("slack", "xapp-", safe, "\\d-[A-Z0-9]{8,14}-\\d{10,14}-[a-f0-9]{32,70}", 110);
parts("slack-webhook", "hooks.slack.com/", path, "(?:services|workflows|triggers)/[A-Za-z0-9/]{40,60}", 72);
parts(
  "discord-webhook",
  "discord.com/api/webhooks/ discordapp.com/api/webhooks/",
  path,
  "\\d{17,20}/[A-Za-z0-9_-]{60,72}",
  94,
);
parts(
  "teams-webhook",
  "outlook.office.com/webhook/",
  address,
  "[0-9a-f@-]{60,80}/IncomingWebhook/.{20,80}",
  200,
);
parts("sendgrid", "SG.", dotted, "[A-Za-z0-9_-]{22}\\.[A-Za-z0-9_-]{43}", 66);
tokens("mailgun", "key-", hex, 32);
parts("brevo", "xkeysib- xsmtpsib-", safe, "[a-f0-9]{64}-[A-Za-z0-9]{16}", 81);
parts("resend", "re_", word, "[A-Za-z0-9]{8}_[A-Za-z0-9]{24}", 33);
tokens("twilio", "SK", hex, 32);
parts("hubspot", "pat-na1- pat-na2- pat-eu1- pat-ap1-", safe, UUID, 36);
long("intercom", "dG9rOj", base64, 40);

// Money and shops
tokens("stripe", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_", alnum, 16, 120);
tokens("stripe", "whsec_", base64, 32, 64);
tokens("square", "sq0atp- sq0idp-", safe, 22);
tokens("square", "sq0csp-", safe, 43);
tokens("square", "EAAA", safe, 56, 64);
tokens("shopify", "shpat_ shpca_ shppa_ shpss_", anyHex, 32);
parts(
  "braintree",
  "access_token$production$ access_token$sandbox$",
  charSet(/[a-z0-9$]/),
  "[a-z0-9]{16}\\$[a-f0-9]{32}",
  49,
);
parts("plaid", "access-sandbox- access-development- access-production-", safe, UUID, 36);
tokens("shippo", "shippo_live_ shippo_test_", anyHex, 40);
tokens("easypost", "EZAK EZTK", alnum, 54);
tokens("duffel", "duffel_live_ duffel_test_", safe, 43);
parts("flutterwave", "FLWSECK_TEST- FLWSECK-", safe, "[a-h0-9]{32}-X", 34);
tokens("paystack", "sk_live_ sk_test_", hex, 40);

// Data, logs, maps, documents
tokens("supabase", "sbp_", hex, 40);
tokens("supabase", "sb_secret_", word, 28, 48);
tokens("planetscale", "pscale_tkn_ pscale_pw_ pscale_oauth_", dotted, 32, 64);
tokens("neon", "napi_", alnum, 48, 72);
parts("airtable", "pat", dotted, "[A-Za-z0-9]{14}\\.[a-f0-9]{64}", 79);
tokens("notion", "ntn_", alnum, 46);
tokens("notion", "secret_", alnum, 43);
tokens("linear", "lin_api_ lin_oauth_", alnum, 40, 64);
tokens("figma", "figd_ figu_", safe, 38, 48);
tokens("dropbox", "sl.", dotted, 130, 1400);
parts("postman", "PMAK-", safe, "[a-f0-9]{24}-[a-f0-9]{34}", 59);
tokens("typeform", "tfp_", dotted, 55, 64);
tokens("contentful", "CFPAT-", safe, 43);
tokens("frame-io", "fio-u-", safe, 64);
tokens("readme", "rdme_", lower, 70);
tokens("new-relic", "NRAK-", upper, 27);
tokens("new-relic", "NRJS-", hex, 19);
tokens("new-relic", "NRII- NRIQ-", safe, 32);
long("sentry", "sntrys_eyJ", base64, 60);
tokens("sentry", "sntryu_", hex, 64);
parts("grafana", "glsa_", word, "[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}", 41);
tokens("grafana", "glc_", base64, 32, 400);
long("grafana", "eyJrIjoi", base64, 60);
parts("dynatrace", "dt0c01. dt0s01. dt0s16.", dotted, "[A-Z0-9]{24}\\.[A-Z0-9]{64}", 89);
tokens("posthog", "phx_", alnum, 40, 50);
parts("launchdarkly", "sdk- api- mob-", safe, UUID, 36);
tokens("clickhouse", "4b1d", alnum, 38);
tokens("elastic", "essu_", base64, 60, 140);
parts("mapbox", "sk.", dotted, "eyJ[A-Za-z0-9_-]{40,120}\\.[A-Za-z0-9_-]{20,28}", 152);
tokens("facebook", "EAAC EAAM EAAB EAAG EAAJ EAAL", alnum, 90, 400);
tokens("instagram", "IGQV IGAA", alnum, 90, 300);
tokens("twitter", "AAAAAAAAAAAAAAAAAAAAA", charSet(/[A-Za-z0-9%]/), 60, 110);
tokens("adafruit", "aio_", alnum, 28);
tokens("workos", "sk_live_ sk_test_", base64, 30, 120);

const byStart = new Map<string, TokenRule[]>();
for (const rule of rules) {
  for (const start of [rule.prefix.slice(0, 1), rule.prefix.slice(0, 2)])
    byStart.set(start, [...(byStart.get(start) ?? []), rule]);
}

/** The rules whose prefix begins like the text from here on. */
export function rulesAt(text: string, at: number): readonly TokenRule[] {
  return byStart.get(text.slice(at, at + 2)) ?? [];
}

/** Tokens without a prefix that can be told by the whole of their shape. */
export const SHAPES: readonly { readonly service: string; readonly shape: RegExp }[] = [
  { service: "mailchimp", shape: /^[0-9a-f]{32}-us\d{1,2}$/ },
  { service: "azure-ad", shape: /^[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}$/ },
  { service: "terraform", shape: /^[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}$/ },
  { service: "discord", shape: /^[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}$/ },
  { service: "mailgun", shape: /^[a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8}$/ },
  { service: "maxmind", shape: /^[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk$/ },
];
export const SHAPE_MIN = 32;
export const SHAPE_MAX = 100;

/** How many services are known. */
export const SERVICES: readonly string[] = [...new Set([...rules, ...SHAPES].map(({ service }) => service))];
