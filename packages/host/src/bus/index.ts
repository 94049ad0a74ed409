export type { Bus, BusItem, BusLimits, Committed, Gap, Subscription, Wake } from "./bus.ts";
export {
  type Cursor,
  CursorError,
  formatCursor,
  type MessagePosition,
  type Position,
  parseCursor,
} from "./cursor.ts";
export { memoryBus } from "./memory.ts";
export { type RedisBusOptions, redisBus } from "./redis.ts";
export { RunReader } from "./run-reader.ts";
