import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { sqlite, Trackside } from "@trackside/host";
import { builtInHooks, builtInRails } from "@trackside/rails";
import { createServer, type TracksideServer } from "@trackside/server";
import type { LanguageModel } from "trackside";
import type { Io } from "../io.ts";
import type { Where } from "../serve/options.ts";
import { chooseModel } from "./choose-model.ts";
import { demoModel, READING_PACE } from "./demo-model.ts";
import { noAddresses, onCallDefinition } from "./on-call-agent.ts";
import { releaseManager, releaseTools } from "./release.ts";
import { shopTools } from "./shop.ts";

const SCRIPTED = "demo:scripted";
const HOUR = 60 * 60 * 1000;

export interface DemoRoom {
  readonly trackside: Trackside;
  readonly server: TracksideServer;
  /** Which model answers, and why that one. */
  readonly about: string;
}

/** The control room over a made-up shop: two agents that can be edited like any other, on a store of its own. */
export async function demoRoom(io: Io, given: string | undefined, where: Where): Promise<DemoRoom> {
  const { model, about } = await chooseModel({ io, given, pace: READING_PACE });
  const scripted: LanguageModel = typeof model === "string" ? demoModel(READING_PACE) : model;
  const name = typeof model === "string" ? model : SCRIPTED;
  const folder = join(io.cwd, ".trackside");
  mkdirSync(folder, { recursive: true });
  const trackside = new Trackside({
    store: sqlite(join(folder, "demo.db")),
    agents: [],
    tools: [...shopTools(), ...releaseTools()],
    rails: { ...builtInRails, [noAddresses.name]: () => noAddresses },
    hooks: builtInHooks,
    models: { [SCRIPTED]: scripted },
    modelTable: { [SCRIPTED]: { window: 128_000, output: 8_192 } },
    access: { linkMs: HOUR },
  });
  await prepare(trackside, name, given !== undefined);
  return { trackside, server: createServer({ ...where, trackside }), about };
}

/** The agents of the first start, and somebody to sign in as. */
async function prepare(trackside: Trackside, model: string, isAskedFor: boolean): Promise<void> {
  await trackside.open();
  const { agents, access } = trackside;
  const known = new Map((await agents.list()).map((agent) => [agent.name, agent]));
  for (const definition of [onCallDefinition(model), releaseManager(model)]) {
    const agent = known.get(definition.name);
    if (agent === undefined) {
      await agents.create({ definition }, { by: BY });
      continue;
    }
    // A model that somebody chose in the editor stays, unless another one is asked for now.
    const isTheirs = agent.definition["model"] !== SCRIPTED && !isAskedFor;
    if (isTheirs || agent.definition["model"] === model) continue;
    const { version } = agent;
    await agents.save(agent.name, { definition: { ...agent.definition, model } }, { by: BY, version });
  }
  if (await access.needsSetup()) await access.users.create({ name: "you", role: "admin" }, { by: BY });
}

const BY = "demo";
