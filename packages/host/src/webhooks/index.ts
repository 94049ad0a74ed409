export type { EndpointSecret, WebhookEndpoint, WebhookType } from "./endpoint.ts";
export { enqueueWebhook, pruneWebhooks, type WebhookEvent, webhookBody, webhookEventOf } from "./event.ts";
export { WebhookSender, type WebhookSenderOptions } from "./sender.ts";
export { verifyWebhook } from "./signature.ts";
