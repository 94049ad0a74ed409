import { TracksideError } from "trackside";

/** A secret itself, or the name of one in the tenant's secrets. */
export type EndpointSecret = string | { readonly secret: string };

/** Somebody who wants to hear of approvals. */
export interface WebhookEndpoint {
  /** Stands in rows and audit instead of the address, which may hold a token. Stays when the address changes. */
  readonly name: string;
  /** http or https. Read when a webhook is sent, so that a corrected address serves those that wait, too. */
  readonly url: string;
  /** Signs what is sent. Several while a receiver changes from one to another. */
  readonly secret: EndpointSecret | readonly EndpointSecret[];
  /** Only these; all unless given. */
  readonly events?: readonly WebhookType[];
  /** Only of these tenants; all unless given. */
  readonly tenants?: readonly string[];
}

export type WebhookType = "approval.requested" | "approval.decided";

export const WEBHOOK_TYPES: readonly WebhookType[] = ["approval.requested", "approval.decided"];

const NAME = /^[A-Za-z0-9_.-]{1,64}$/;

/** Checks endpoints where they are configured, all at once. */
export function checkEndpoints(endpoints: readonly WebhookEndpoint[]): readonly WebhookEndpoint[] {
  const problems = endpoints.flatMap((endpoint, index) =>
    problemsOf(endpoint).map((problem) => `webhooks[${index}].${problem}`),
  );
  const names = endpoints.map(({ name }) => name);
  for (const name of new Set(names.filter((one, index) => names.indexOf(one) !== index)))
    problems.push(`webhooks: two endpoints are called "${name}"; give each a name of its own`);
  if (problems.length > 0) throw new TracksideError("webhook_invalid", problems.join("\n"));
  return endpoints;
}

// The address is not repeated in a message: it may hold a token.
function problemsOf({ name, url, secret, events = [] }: WebhookEndpoint): readonly string[] {
  const found: string[] = [];
  if (!NAME.test(name)) found.push(`name: 1 to 64 letters, digits, "_", "." or "-" expected`);
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined) found.push("url: an address such as https://example.org/hook expected");
  else if (address.protocol !== "https:" && address.protocol !== "http:")
    found.push(`url: http or https expected, "${address.protocol}" given`);
  else if (address.username !== "" || address.password !== "")
    found.push("url: no user and password in the address; a receiver checks the signature instead");
  const secrets = secretsOf(secret);
  if (secrets.length === 0) found.push("secret: at least one expected; it signs what is sent");
  for (const one of secrets)
    if (typeof one === "string" ? one.length < 16 : one.secret === "")
      found.push("secret: at least 16 characters, or { secret: <name> } expected");
  for (const type of events)
    if (!WEBHOOK_TYPES.includes(type))
      found.push(`events: ${WEBHOOK_TYPES.join(" or ")} expected, ${JSON.stringify(type)} given`);
  return found;
}

export function secretsOf(secret: WebhookEndpoint["secret"]): readonly EndpointSecret[] {
  return isList(secret) ? secret : [secret];
}

function isList(secret: WebhookEndpoint["secret"]): secret is readonly EndpointSecret[] {
  return Array.isArray(secret);
}

export function wants(endpoint: WebhookEndpoint, event: { type: WebhookType; tenant: string }): boolean {
  const { events, tenants } = endpoint;
  return (events?.includes(event.type) ?? true) && (tenants?.includes(event.tenant) ?? true);
}
