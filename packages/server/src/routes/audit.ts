import type { AuditEntry, AuditReport } from "@trackside/host";
import type { Handlers } from "../http/handler.ts";
import { pageOf } from "../http/page.ts";
import { tenantOf } from "../http/scope.ts";

export const auditHandlers = {
  async listAudit({ query: { action, after, limit } }, context) {
    const found = await context.trackside.audit.list({
      ...tenantOf(context),
      limit,
      newestFirst: true,
      ...(action === undefined ? {} : { action }),
      ...(after === undefined ? {} : { after: Number(after) }),
    });
    return pageOf(found.map(entryOf), limit, ({ n }) => String(n));
  },

  async verifyAudit(_input, context) {
    return reportOf(await context.trackside.audit.verify(tenantOf(context)));
  },
} satisfies Partial<Handlers>;

function entryOf({ tenant: _, about, ...entry }: AuditEntry) {
  return { ...entry, about: { ...about } };
}

function reportOf({ problems, ...report }: AuditReport) {
  return { ...report, problems: [...problems] };
}
