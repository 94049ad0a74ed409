import { DatabaseSync } from "node:sqlite";
import type { Agent } from "trackside";
import type { ScriptedModel } from "trackside/testing";
import { expect } from "vitest";
import type { SentRequest, Trackside } from "../../../src/index.ts";
import { rebuilt, received } from "./compare.ts";

/** Agents of any shape, as a host takes them. */
export const anyAgent = (agent: Agent<never, never> | object): never => agent as never;

/** What models were sent, one after another. */
export function sentTo(...models: readonly ScriptedModel[]) {
  return models.flatMap(({ requests }) => requests.map(({ options }) => received(options)));
}

/** Every request of a run is there, whole, and as the models got it. */
export async function isAsSent(
  trackside: Trackside,
  runId: string,
  ...models: readonly ScriptedModel[]
): Promise<readonly SentRequest[]> {
  const requests = await trackside.runs.requests(runId);
  expect(requests.filter(({ complete }) => !complete)).toEqual([]);
  expect(requests.map(rebuilt)).toEqual(sentTo(...models));
  await isAlikeByStep(trackside, runId, requests);
  return requests;
}

/** Whoever asks for one step gets the same as whoever asks for all of them. */
export async function isAlikeByStep(
  trackside: Trackside,
  runId: string,
  requests: readonly SentRequest[],
): Promise<void> {
  const stepOf = ({ kind, step }: SentRequest) => (kind === "planner" ? 0 : step);
  const last = Math.max(0, ...requests.map(stepOf));
  for (let step = 0; step <= last + 1; step++)
    expect(await trackside.runs.requests(runId, { step })).toEqual(
      requests.filter((one) => stepOf(one) === step),
    );
}

/** How often a text is in a database, by table. */
export function placesOf(path: string, text: string): Readonly<Record<string, number>> {
  const database = new DatabaseSync(path, { readOnly: true });
  const tables = database.prepare("select name from sqlite_master where type = 'table'").all();
  const found = tables.map(({ name }) => {
    const values = database
      .prepare(`select * from "${name}"`)
      .all()
      .flatMap((row) => Object.values(row));
    const texts = values.map((value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString() : String(value),
    );
    return [String(name), texts.reduce((n, one) => n + one.split(text).length - 1, 0)] as const;
  });
  database.close();
  return Object.fromEntries(found.filter(([, n]) => n > 0));
}
