import type { Handlers } from "../http/handler.ts";
import { pageOf, whole } from "../http/page.ts";
import { scopeOf, tenantOf } from "../http/scope.ts";
import { startedOf, startOptions } from "./starting.ts";

export const conversationHandlers = {
  async listConversations({ query: { agent, after, limit } }, context) {
    const found = await context.trackside.conversations.list({
      ...tenantOf(context),
      limit,
      ...(agent === undefined ? {} : { agent }),
      ...(after === undefined ? {} : { before: Number(after) }),
    });
    return pageOf(found.map(copy), limit, ({ updated_at }) => String(updated_at));
  },

  async createConversation({ body: { agent, title } }, context) {
    const made = await context.trackside.conversations.create({
      ...tenantOf(context),
      ...(agent === undefined ? {} : { agent }),
      ...(title === undefined ? {} : { title }),
    });
    return copy(made);
  },

  async importConversation({ body }, context) {
    return copy(await context.trackside.conversations.import(body.lines, tenantOf(context)));
  },

  async getConversation({ params: { id } }, context) {
    return copy(await context.trackside.conversations.get(id, tenantOf(context)));
  },

  async deleteConversation({ params: { id } }, context) {
    await context.trackside.conversations.delete(id, tenantOf(context));
    return undefined;
  },

  async listMessages({ params: { id } }, context) {
    return whole(await context.trackside.conversations.messages(id, tenantOf(context)));
  },

  async sendMessage({ params: { id }, body }, context) {
    const { input, agent, scope, ...rest } = body;
    const started = await context.trackside.conversations.send(id, input, {
      ...startOptions(rest, context),
      ...tenantOf(context),
      scope: scopeOf(context, scope),
      ...(agent === undefined ? {} : { agent }),
    });
    return startedOf(started);
  },

  async createBranch({ params: { id }, body }, context) {
    return context.trackside.conversations.branch(id, { ...tenantOf(context), at: body.at });
  },

  async exportBranch({ params: { id } }, context) {
    const lines = await context.trackside.conversations.export(id, tenantOf(context));
    return new Response(lines, {
      headers: {
        "content-type": "application/jsonl; charset=utf-8",
        "content-disposition": 'attachment; filename="conversation.jsonl"',
      },
    });
  },
} satisfies Partial<Handlers>;

/** Records are read-only; what is answered need not be. */
function copy<T extends { readonly branches: readonly object[] }>(record: T) {
  return { ...record, branches: [...record.branches] as T["branches"][number][] }; // the same ones
}
