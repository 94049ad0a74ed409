export { checkUrl } from "./check-url.ts";
export { guardedFetch } from "./guarded-fetch.ts";
export type { UrlPolicy } from "./url-policy.ts";
