export { type Problem, problem } from "./common.ts";
export { type Endpoint, type EndpointName, endpoints, type Needs } from "./endpoints.ts";
export type { Role } from "./records.ts";
export { type Answer, type Read, type Request, type Shape, shapes } from "./shapes.ts";
