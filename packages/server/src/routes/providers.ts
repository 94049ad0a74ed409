import type { Context, Handlers } from "../http/handler.ts";
import { whole } from "../http/page.ts";
import { HttpProblem } from "../http/problem.ts";

/** The tenant of whoever set the server up. Providers are the host's: its admins alone change them. */
const OWN_TENANT = "default";

export const providerHandlers = {
  async listProviders(_input, { trackside }) {
    return whole(await trackside.providers.list());
  },

  async setProvider({ params: { provider }, body: { api_key, base_url } }, context) {
    const by = ownAdmin(context);
    const { providers } = context.trackside;
    await providers.get(provider); // one that is not there is told before anything is set
    if (base_url !== undefined) await providers.setBaseUrl(provider, base_url, by);
    if (api_key !== undefined) await providers.setKey(provider, api_key, by);
    return providers.get(provider);
  },

  async deleteProviderKey({ params: { provider } }, context) {
    const by = ownAdmin(context);
    const removed = await context.trackside.providers.removeKey(provider, by);
    if (!removed)
      throw new HttpProblem(
        404,
        "secret_unknown",
        `There is no key of ${provider} in the store that could be removed.`,
      );
    return undefined;
  },

  async testProvider({ params: { provider }, body: { model } }, context) {
    ownAdmin(context);
    return context.trackside.providers.test(provider, { model, signal: context.signal });
  },
} satisfies Partial<Handlers>;

function ownAdmin({ credential: { tenant, user } }: Context): { readonly by: string } {
  if (tenant === OWN_TENANT) return { by: user.id };
  const detail = "Providers are shared by all tenants of this server. Ask an admin of its own tenant.";
  throw new HttpProblem(403, "tenant_not_enough", detail);
}
