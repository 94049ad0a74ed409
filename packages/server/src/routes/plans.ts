import type { PlanBoard, PlanRecord, PlanVersion } from "@trackside/host";
import type { Answer, Read } from "../contract/index.ts";
import type { Context, Handlers } from "../http/handler.ts";
import { pageOf } from "../http/page.ts";
import { tenantOf } from "../http/scope.ts";

export const planHandlers = {
  async getPlanBoard({ params: { name } }, context) {
    return boardOf(await context.trackside.plans.board(name, tenantOf(context)));
  },

  async listPlanVersions({ params: { name }, query: { before, limit } }, context) {
    const found = await context.trackside.plans.versions(name, { ...tenantOf(context), before, limit });
    return pageOf(found.map(versionOf), limit, ({ version }) => String(version));
  },

  async createPlan({ params: { name }, body: { goal, steps, note } }, context) {
    const author = { ...authorOf(context), note };
    return recordOf(await context.trackside.plans.create(name, { goal, steps: steps.map(given) }, author));
  },

  async generatePlan({ params: { name }, body }, context) {
    return boardOf(await context.trackside.plans.generate(name, body, authorOf(context)));
  },

  async getPlan({ params: { id } }, context) {
    return recordOf(await context.trackside.plans.get(id, tenantOf(context)));
  },

  async savePlan({ params: { id }, body: { goal, steps, note, version } }, context) {
    const author = { ...authorOf(context), note, version };
    return recordOf(await context.trackside.plans.save(id, { goal, steps: steps.map(given) }, author));
  },

  async runPlan({ params: { id } }, context) {
    return recordOf(await context.trackside.plans.run(id, authorOf(context)));
  },

  async stopPlan({ params: { id }, body: { reason } }, context) {
    return recordOf(await context.trackside.plans.stop(id, { ...authorOf(context), note: reason }));
  },

  async runPlanStep({ params: { id, step } }, context) {
    return recordOf(await context.trackside.plans.runStep(id, step, authorOf(context)));
  },

  async verifyPlanStep({ params: { id, step } }, context) {
    return recordOf(await context.trackside.plans.verifyStep(id, step, authorOf(context)));
  },

  async skipPlanStep({ params: { id, step }, body: { reason } }, context) {
    const author = { ...authorOf(context), note: reason };
    return recordOf(await context.trackside.plans.skipStep(id, step, author));
  },
} satisfies Partial<Handlers>;

function authorOf({ credential: { tenant, user } }: Context) {
  return { tenant, by: user.name };
}

type StepInput = Read<"createPlan", "body">["steps"][number];

/** What is left out is empty. */
function given({ id, title, detail = "", depends_on = [], criteria = "" }: StepInput) {
  return { id, title, detail, depends_on, criteria };
}

/** What a plan says is frozen; what is answered need not be. */
function recordOf({ tenant: _, steps, ...plan }: PlanRecord): Answer<"getPlan"> {
  return {
    ...plan,
    steps: steps.map(({ depends_on, verification, ...step }) => ({
      ...step,
      depends_on: [...depends_on],
      verification: { ...verification },
    })),
  };
}

function versionOf({ steps, ...version }: PlanVersion) {
  return { ...version, steps: steps.map((step) => ({ ...step, depends_on: [...step.depends_on] })) };
}

function boardOf({ plan, ...board }: PlanBoard): Answer<"getPlanBoard"> {
  return { ...board, plan: plan === null ? null : recordOf(plan) };
}
