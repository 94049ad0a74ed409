/** What somebody may do, in the order people read it in. */
export const ROLES = ["viewer", "operator", "approver", "admin"] as const;
export type Role = (typeof ROLES)[number];

/** What something needs: to look, to start and steer runs, to decide approvals, to change how things are set up. */
export type Need = "read" | "operate" | "decide" | "admin";

const MAY: Readonly<Record<Role, readonly Need[]>> = {
  viewer: ["read"],
  operator: ["read", "operate"],
  approver: ["read", "decide"],
  admin: ["read", "operate", "decide", "admin"],
};

/** Whether a role is enough. Operators do not decide and approvers do not operate: nobody waves through what they started. */
export function allows(role: Role, needed: Need): boolean {
  return MAY[role].includes(needed);
}

/** Whether somebody may hand out a role: one that may do nothing more than their own. */
export function mayGrant(own: Role, given: Role): boolean {
  return MAY[given].every((need) => allows(own, need));
}

export function isRole(value: unknown): value is Role {
  return ROLES.some((role) => role === value);
}
