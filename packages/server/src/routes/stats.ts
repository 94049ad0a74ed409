import type { Handlers } from "../http/handler.ts";
import { tenantOf } from "../http/scope.ts";

const A_DAY = 24 * 60 * 60 * 1000;

export const statsHandlers = {
  async stats({ query: { from, to, buckets, agent } }, context) {
    const now = context.trackside.engine.clock.now();
    const until = to ?? now;
    const report = await context.trackside.stats.report({
      ...tenantOf(context),
      from: Math.min(from ?? until - A_DAY, until),
      to: until,
      buckets,
      ...(agent === undefined ? {} : { agent }),
    });
    const copies = report.buckets.map(({ verdicts, ...bucket }) => ({
      ...bucket,
      verdicts: { ...verdicts },
    }));
    return { ...report, buckets: copies };
  },
} satisfies Partial<Handlers>;
