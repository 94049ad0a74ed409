import { type ApiToken, mayGrant as mayGive, type User } from "@trackside/host";
import type { Context, Handlers } from "../http/handler.ts";
import { whole } from "../http/page.ts";
import { HttpProblem } from "../http/problem.ts";
import { tenantOf } from "../http/scope.ts";

export const accessHandlers = {
  async listUsers(_input, context) {
    const users = await context.trackside.access.users.list(tenantOf(context));
    return whole(users.map(userOf));
  },

  async createUser({ body }, context) {
    const { access } = context.trackside;
    const by = byOf(context);
    const user = await access.users.create(body, by);
    const link = body.password === undefined ? await access.openLink({ user: user.id, ...by }) : undefined;
    return {
      ...userOf(user),
      link: link === undefined ? null : `${context.publicUrl}/sign-in#link=${link.secret}`,
    };
  },

  async updateUser({ params: { id }, body }, context) {
    return userOf(await context.trackside.access.users.update(id, body, byOf(context)));
  },

  async deleteUser({ params: { id } }, context) {
    if (id === context.credential.user.id)
      throw new HttpProblem(409, "own_user", "You cannot remove yourself. Ask another admin.");
    await context.trackside.access.users.remove(id, byOf(context));
    return undefined;
  },

  async listTokens(_input, context) {
    const { access } = context.trackside;
    const { role, user } = context.credential;
    const mine = role === "admin" ? {} : { user: user.id };
    const tokens = await access.tokens.list({ ...tenantOf(context), ...mine });
    const names = new Map((await access.users.list(tenantOf(context))).map(({ id, name }) => [id, name]));
    return whole(tokens.map((token) => tokenOf(token, names.get(token.user_id))));
  },

  async createToken({ body: { name, role, expires_at } }, context) {
    const { credential, trackside } = context;
    if (!mayGive(credential.role, role))
      throw new HttpProblem(
        403,
        "role_not_enough",
        `A token may do what its owner may: yours is ${credential.role}, ${role} was asked for.`,
      );
    const given = { user: credential.user.id, name, role, expires_at };
    const { secret, token } = await trackside.access.tokens.create(given, byOf(context));
    return { ...tokenOf(token, credential.user.name), secret };
  },

  async revokeToken({ params: { id } }, context) {
    const { credential, trackside } = context;
    const scope = tenantOf(context);
    if (credential.role !== "admin") {
      const own = await trackside.access.tokens.list({ ...scope, user: credential.user.id });
      // Whose it is otherwise is nobody's business.
      if (!own.some((token) => token.id === id))
        throw new HttpProblem(404, "token_unknown", `There is no token ${id}.`);
    }
    await trackside.access.tokens.revoke(id, byOf(context));
    return undefined;
  },
} satisfies Partial<Handlers>;

/** For the audit: ids, since names change. */
function byOf({ credential: { tenant, user } }: Context): { tenant: string; by: string } {
  return { tenant, by: user.id };
}

function userOf(user: User) {
  const { id, name, role, created_at, updated_at, disabled_at, last_seen_at, has_password } = user;
  return { id, name, role, created_at, updated_at, disabled_at, last_seen_at, has_password };
}

function tokenOf(token: ApiToken, owner: string | undefined) {
  const { id, name, prefix, role, user_id, created_at, expires_at, revoked_at, last_used_at } = token;
  const user = { id: user_id, name: owner ?? "(removed)" };
  return { id, name, prefix, role, user, created_at, expires_at, revoked_at, last_used_at };
}
