// For engines whose loop runs elsewhere: effects, one at a time, over the store.
export { Erased } from "../journal/fenced.ts";
export { Parked } from "../journal/park.ts";
export { Effects, type Performer } from "./effects.ts";
