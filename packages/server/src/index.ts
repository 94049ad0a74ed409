export type { Endpoint, EndpointName, Needs, Problem } from "./contract/index.ts";
export type { Authenticate } from "./http/app.ts";
export type { Credential } from "./http/handler.ts";
export type { Limits } from "./http/limits.ts";
export type { Rate } from "./http/rate-limit.ts";
export { createServer, type ServerOptions, type TracksideServer } from "./server.ts";
