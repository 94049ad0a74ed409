import type { Firing, SavedSchedule, ScheduleFields, ScheduleRecord } from "@trackside/host";
import { AgentConfigError, type JsonObject } from "trackside";
import type { Answer, Read } from "../contract/index.ts";
import type { Context, Handlers } from "../http/handler.ts";
import { pageOf } from "../http/page.ts";
import { HttpProblem } from "../http/problem.ts";
import { tenantOf } from "../http/scope.ts";

export const scheduleHandlers = {
  async listSchedules({ query: { search, target_kind: kind, target_name, after, limit } }, context) {
    const found = await context.trackside.schedules.list({
      ...tenantOf(context),
      ...(search === undefined ? {} : { search }),
      ...(kind === undefined || target_name === undefined ? {} : { target: { kind, name: target_name } }),
      ...(after === undefined ? {} : { after }),
      limit,
    });
    return pageOf(
      found.map((one) => recordOf(one, context)),
      limit,
      ({ name }) => name,
    );
  },

  async createSchedule({ body }, context) {
    return savedOf(await context.trackside.schedules.create(fieldsOf(body), authorOf(context)), context);
  },

  async previewSchedule({ body: { trigger } }, { trackside }) {
    try {
      const { times, words } = trackside.schedules.preview(trigger);
      return { ok: true, issues: [], words, next_times: [...times] };
    } catch (error) {
      if (!(error instanceof AgentConfigError)) throw error;
      return { ok: false, issues: error.issues.map((issue) => ({ ...issue })), words: null, next_times: [] };
    }
  },

  async getSchedule({ params: { id } }, context) {
    const { schedules } = context.trackside;
    const found = await schedules.get(id, tenantOf(context));
    const { times } = schedules.preview(found.trigger);
    return { ...recordOf(found, context), next_times: found.enabled ? [...times] : [] };
  },

  async saveSchedule({ params: { id }, body: { version, ...body } }, context) {
    const author = { ...authorOf(context), version };
    return savedOf(await context.trackside.schedules.save(id, fieldsOf(body), author), context);
  },

  async deleteSchedule({ params: { id } }, context) {
    await context.trackside.schedules.delete(id, authorOf(context));
    return undefined;
  },

  async enableSchedule({ params: { id }, body: { version } }, context) {
    const author = { ...authorOf(context), ...(version === undefined ? {} : { version }) };
    return recordOf(await context.trackside.schedules.enable(id, author), context);
  },

  async disableSchedule({ params: { id }, body: { version } }, context) {
    const author = { ...authorOf(context), ...(version === undefined ? {} : { version }) };
    return recordOf(await context.trackside.schedules.disable(id, author), context);
  },

  async fireSchedule({ params: { id } }, context) {
    const { requestId } = context;
    const by = { ...authorOf(context), ...(requestId === undefined ? {} : { requestId }) };
    return firingOf(await context.trackside.schedules.fire(id, by));
  },

  async rotateScheduleSecret({ params: { id }, body: { keep_old_seconds: seconds = 0 } }, context) {
    const author = { ...authorOf(context), keepMs: seconds * 1000 };
    return savedOf(await context.trackside.schedules.rotateSecret(id, author), context);
  },

  async listFirings({ params: { id }, query: { after, limit } }, context) {
    const { schedules } = context.trackside;
    const page = { ...tenantOf(context), limit, ...(after === undefined ? {} : { after }) };
    const { firings, next } = await schedules.history(id, page);
    return { items: firings.map(firingOf), next };
  },

  async triggerSchedule({ params: { id }, body }, { trackside, services, request, bytes, address }) {
    services.admitTrigger(`${id}\0${address}`);
    const { state, run_id, reason } = await trackside.schedules.deliver(id, {
      bytes,
      body,
      signature: request.headers.get("trackside-signature"),
      id: request.headers.get("trackside-event-id"),
    });
    if (state === "failed") throw new HttpProblem(422, "not_started", reason ?? "It could not be started.");
    return { state, run_id, reason };
  },
} satisfies Partial<Handlers>;

function authorOf({ credential: { tenant, user } }: Context) {
  return { tenant, by: user.name };
}

function fieldsOf(body: Read<"createSchedule", "body">): ScheduleFields {
  const { name, target, trigger, input, missed, overlap, enabled } = body;
  return {
    name,
    target,
    trigger,
    ...(input === undefined ? {} : { input: input as string | JsonObject | null }), // read as JSON
    ...(missed === undefined ? {} : { missed }),
    ...(overlap === undefined ? {} : { overlap }),
    ...(enabled === undefined ? {} : { enabled }),
  };
}

function recordOf(record: ScheduleRecord, { publicUrl }: Context): Answer<"enableSchedule"> {
  const { tenant: _, last, target, trigger, ...rest } = record;
  const input = typeof rest.input === "object" && rest.input !== null ? { ...rest.input } : rest.input;
  return {
    ...rest,
    input,
    target: { ...target },
    trigger: { ...trigger },
    last: last && firingOf(last),
    webhook_url: trigger.kind === "webhook" ? `${publicUrl}/api/v1/triggers/${record.id}` : null,
  };
}

function savedOf({ secret, ...record }: SavedSchedule, context: Context): Answer<"createSchedule"> {
  return { ...recordOf(record, context), ...(secret === undefined ? {} : { secret }) };
}

function firingOf(firing: Firing): Answer<"fireSchedule"> {
  const run_status = firing.run_status as Answer<"fireSchedule">["run_status"]; // as runs have it
  return { ...firing, run_status };
}
