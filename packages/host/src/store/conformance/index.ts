import { appends } from "./appends.ts";
import type { StoreBehaviour } from "./behaviour.ts";
import { schema } from "./schema.ts";
import { writes } from "./writes.ts";

export type { StoreBehaviour } from "./behaviour.ts";

/**
 * What every store must do. Give each behaviour an empty database:
 *
 * @example
 * for (const { title, check } of storeConformance) test(title, () => check({ store: () => sqlite(path) }));
 */
export const storeConformance: readonly StoreBehaviour[] = [...writes, ...appends, ...schema];
