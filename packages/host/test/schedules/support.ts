import { Agent } from "trackside";
import { scriptedModel } from "trackside/testing";
import type { ScheduleFields, Store, Trackside } from "../../src/index.ts";
import { rows } from "../../src/store/store.ts";
import { type HostParts, hostOn } from "../agents/support/host.ts";

export { wall } from "../conformance/wall.ts";

export const ANN = { by: "ann" };
export const HOUR = 3_600_000;
/** A Monday, a quarter to eight. */
export const START = Date.parse("2026-06-15T07:45:00Z");

/** An agent that answers with what it is told, once `gate` lets it. */
export function clerk(gate: () => Promise<void> = async () => {}) {
  const model = scriptedModel(
    [
      async ({ prompt }) => {
        await gate();
        const user = prompt.findLast(({ role }) => role === "user");
        const part = user?.role === "user" ? user.content[0] : undefined;
        return part?.type === "text" ? `heard: ${part.text}` : "nothing";
      },
    ],
    { loop: true },
  );
  return new Agent({ name: "clerk", model });
}

/** A host that looks at its schedules when it is told to. */
export function quietHost(store: Store, parts: HostParts = {}, notices: string[] = []): Trackside {
  return hostOn(store, { agents: [clerk()], claims: false, ...parts }, notices);
}

export function hourly(name: string, more: Partial<ScheduleFields> = {}): ScheduleFields {
  return {
    name,
    target: { kind: "agent", name: "clerk" },
    input: "What is new?",
    trigger: { kind: "cron", pattern: "0 * * * *", time_zone: "UTC" },
    ...more,
  };
}

export function webhook(name: string, more: Partial<ScheduleFields> = {}): ScheduleFields {
  return hourly(name, { trigger: { kind: "webhook" }, ...more });
}

/** What became of a schedule, the oldest first: the time it was for, and how it went. */
export async function told(trackside: Trackside, name: string): Promise<readonly string[]> {
  const { firings } = await trackside.schedules.history(name, { limit: 1000 });
  return firings
    .map(({ scheduled_for, state }) => `${new Date(scheduled_for).toISOString().slice(11, 16)} ${state}`)
    .reverse();
}

/** Texts that runs were started with, the oldest first. */
export async function runInputs(trackside: Trackside): Promise<readonly string[]> {
  const found = await trackside.engine.store.read((db) =>
    rows(db.selectFrom("runs").select("body").orderBy("created_at").orderBy("id")),
  );
  return found.map(({ body }) => JSON.parse(body).user.parts[0].text);
}
