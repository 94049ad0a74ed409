export { appendAudit, auditDigest } from "./append.ts";
export { type AuditEntry, type AuditEvent, auditBody } from "./entry.ts";
export { type ListAudit, listAudit } from "./list.ts";
export { type AuditAnchor, type AuditProblem, type AuditReport, verifyAudit } from "./verify.ts";
