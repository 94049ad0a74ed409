import type { Role } from "@trackside/server/client";

export const ROLE_OPTIONS: readonly { value: Role; label: string; hint: string }[] = [
  { value: "viewer", label: "Viewer", hint: "Reads everything" },
  { value: "operator", label: "Operator", hint: "Also starts, steers and stops runs" },
  { value: "approver", label: "Approver", hint: "Reads, and decides approvals" },
  { value: "admin", label: "Admin", hint: "Everything: agents, providers, users" },
];

/** What a role may give away: nobody gives more than they have. */
export function grantable(own: Role | undefined): readonly { value: Role; label: string; hint: string }[] {
  if (own === "admin") return ROLE_OPTIONS;
  return ROLE_OPTIONS.filter(({ value }) => value === "viewer" || value === own);
}
