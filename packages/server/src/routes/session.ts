import { allows, type Credential, type SignedIn } from "@trackside/host";
import { readCookie, writeCookie } from "../http/cookies.ts";
import type { Context, Handlers } from "../http/handler.ts";
import { HttpProblem } from "../http/problem.ts";

export const sessionHandlers = {
  async finishSetup({ body: { link, name, password } }, context) {
    context.services.admitSignIn(context.address);
    const done = await context.trackside.access.finishSetup(link, { name, password });
    if ("failed" in done)
      throw new HttpProblem(
        401,
        "link_refused",
        "The setup link is used up, too old, or there is an admin already. Sign in, or restart the server for a new link.",
      );
    return signedIn(done, context);
  },

  async signIn({ body }, context) {
    const { access } = context.trackside;
    context.services.admitSignIn(context.address);
    if ("link" in body) {
      // biome-ignore lint/correctness/useHookAtTopLevel: no hook of React's, in spite of its name
      const done = await access.useLink(body.link);
      if ("failed" in done)
        throw new HttpProblem(401, "link_refused", "The link is used up or too old. Ask for another one.");
      return signedIn(done, context);
    }
    const done = await access.signIn({ ...body, source: context.address });
    if (!("failed" in done)) return signedIn(done, context);
    if (done.failed === "credentials")
      throw new HttpProblem(401, "sign_in_failed", "Name or password is wrong.");
    const waiting = Math.max(1, Math.ceil((done.locked_until - context.trackside.engine.clock.now()) / 1000));
    throw new HttpProblem(
      429,
      "sign_in_locked",
      `Too many failed attempts. Try again in ${waiting} seconds.`,
      {
        retryAfterSeconds: waiting,
      },
    );
  },

  async signOut(_input, { trackside, services, request }) {
    const cookie = services.cookie();
    const secret = readCookie(cookie, request.headers.get("cookie"));
    if (secret !== undefined) await trackside.access.signOut(secret);
    const headers = { "set-cookie": writeCookie(cookie, "", 0), "clear-site-data": '"cache"' };
    return new Response(null, { status: 204, headers });
  },

  async me(_input, { credential }) {
    return meOf(credential);
  },
} satisfies Partial<Handlers>;

function signedIn({ secret, session }: SignedIn, { services }: Context): Response {
  const cookie = writeCookie(services.cookie(), secret, session.ends_at);
  return Response.json(meOf(session), { headers: { "set-cookie": cookie } });
}

function meOf({ tenant, user, role, via }: Omit<Credential, "id">) {
  const all = ["read", "operate", "decide", "admin"] as const;
  return {
    tenant,
    user: { id: user.id, name: user.name },
    role,
    via,
    may: all.filter((need) => allows(role, need)),
  };
}
