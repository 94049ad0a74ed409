import { type ScriptedReply, scriptedModel } from "trackside/testing";
import type { PlanRecord, PlanStep, Trackside } from "../../../src/index.ts";
import { until } from "../../engine/support/until.ts";

/** What a request asks for, as its instructions and its last message say. */
export interface Asked {
  readonly system: string;
  readonly text: string;
  readonly role: "planner" | "judge" | "worker";
  /** A tool has answered. */
  readonly hasResult: boolean;
}

/** A model that answers by who asks it. */
export function rolesModel(
  answer: (asked: Asked) => string | ScriptedReply | Promise<string | ScriptedReply>,
): ReturnType<typeof scriptedModel> {
  return scriptedModel(
    [
      ({ prompt }) => {
        const system = prompt.find(({ role }) => role === "system")?.content;
        const text = JSON.stringify(prompt.findLast(({ role }) => role === "user")?.content ?? "");
        const words = typeof system === "string" ? system : "";
        const role = words.includes("You verify the work")
          ? "judge"
          : words.includes("`depends_on`")
            ? "planner"
            : "worker";
        const hasResult = prompt.some((message) => message.role === "tool");
        return answer({ system: words, text, role, hasResult });
      },
    ],
    { loop: true },
  );
}

/** The title of the step that a worker was asked for. */
export function titleIn(text: string): string {
  return /This step: ([^\\"]+)/.exec(text)?.[1] ?? "";
}

export async function planBecomes(
  { plans }: Trackside,
  id: string,
  is: (plan: PlanRecord) => boolean,
  tenant = "default",
): Promise<PlanRecord> {
  return until(async () => {
    const plan = await plans.get(id, { tenant });
    return is(plan) ? plan : undefined;
  });
}

export function stepIn({ steps }: PlanRecord, id: string): PlanStep {
  const found = steps.find((step) => step.id === id);
  if (found === undefined) throw new Error(`no step ${id}`);
  return found;
}

export const statesOf = ({ steps }: PlanRecord): Record<string, string> =>
  Object.fromEntries(steps.map(({ id, state }) => [id, state]));
