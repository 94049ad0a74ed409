import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { StartedTurn } from "@trackside/host";
import type { Approval } from "trackside";
import { EXIT } from "../command.ts";
import { Complaint } from "../complaint.ts";
import { nearest } from "../nearest.ts";
import type { Runnable } from "../present.ts";
import { findId, shortId } from "../short-id.ts";
import type { Ending } from "../watch.ts";
import { findConfig } from "./find-config.ts";
import type { InStore, StoreValues } from "./in-store.ts";

/** Options of a run in a store. */
export const DURABLE_OPTIONS = {
  config: { type: "string" },
  tenant: { type: "string" },
  conversation: { type: "string" },
} as const;

export interface DurableValues extends StoreValues {
  readonly conversation?: string | undefined;
  readonly model?: string | undefined;
  readonly tools?: string | undefined;
}

/** An agent as it runs on a store: the config's, or that of a file on Temporal. */
export interface ConfiguredAgent extends Runnable {
  /** The store, for people. */
  readonly store: string;
  /** Calls back when a run of its own is parked. Returns the way to stop. */
  onParked(listener: (runId: string) => void): () => void;
  /** Leaves a turn to a worker. */
  queue(message: string): Promise<StartedTurn>;
}

/** Whether the first argument is the name of an agent rather than a file. A file that is there is a file. */
export function isConfigured(
  given: string,
  values: DurableValues,
  cwd: string,
  /** What only an agent of the config has. */
  ofConfig: readonly ("config" | "conversation" | "tenant")[] = ["config", "conversation", "tenant"],
): boolean {
  const isFile = /\.([cm]?[tj]s|json)$/.test(given) || existsSync(resolve(cwd, given));
  const durable = ofConfig.find((name) => values[name] !== undefined);
  if (isFile && durable !== undefined) throw new Complaint(onlyConfigured(`--${durable}`, given));
  if (isFile) return false;
  if (durable === undefined && findConfig(cwd) === undefined)
    throw new Complaint(
      `There is no file ${given}, looked for at ${resolve(cwd, given)}, and no trackside.config.ts that could have an agent of that name.`,
    );
  return true;
}

export function onlyConfigured(option: string, file: string): string {
  return `${option} is for an agent of trackside.config.ts, called by its name; ${file} is a file.`;
}

export async function configuredAgent(
  { trackside, scope }: InStore,
  name: string,
  values: DurableValues,
  started: (runId: string) => void = () => {},
): Promise<ConfiguredAgent> {
  for (const option of ["model", "tools"] as const)
    if (values[option] !== undefined)
      throw new Complaint(`--${option} is for a file: what ${name} runs with is said in the config.`);
  // Those of the config, and those that were made in the control room.
  const agents = await trackside.agents.list({ ...scope, limit: MOST_AGENTS });
  const agent = agents.find((one) => one.name === name);
  if (agent === undefined) {
    const names = agents.map((one) => one.name);
    const near = nearest(name, names);
    const known = names.join(", ") || "none";
    throw new Complaint(
      `There is no file ${name}, and the config has no agent of that name. ${near ? `Did you mean ${near}?` : `It has ${known}.`}`,
    );
  }
  let first =
    values.conversation === undefined
      ? undefined
      : await findId(trackside, "branches", values.conversation, scope.tenant);
  const { began, ...watched } = watchedRuns({ trackside, scope });
  return {
    definition: { model: String(agent.definition["model"]) },
    ...watched,
    stream: (message, { conversation, toolServers: _, ...options }) => {
      // A host has servers of its own.
      const id = conversationId(conversation) ?? first;
      first = undefined; // whoever begins anew, begins anew
      const about = { ...options, scope, ...(id === undefined ? {} : { conversation: id }) };
      const run = trackside.stream(name, message, about);
      began(run.runId);
      started(run.runId);
      return run;
    },
    queue: (message) =>
      trackside.start(name, message, {
        queue: true,
        scope,
        ...(first === undefined ? {} : { conversation: first }),
      }),
  };
}

/** What is heard of runs in a store, whoever runs them. `began` says which of them are one's own. */
export function watchedRuns({
  trackside,
  scope,
}: Pick<InStore, "trackside" | "scope">): Required<
  Pick<ConfiguredAgent, "store" | "approval" | "saw" | "onParked">
> & { began(runId: string): void } {
  const own = new Set<string>();
  const parked = new Set<(runId: string) => void>();
  return {
    store: trackside.engine.store.name,
    approval: (id) => recordIn(trackside, id, scope),
    began: (runId) => void own.add(runId),
    saw: (event) => {
      if (event.type !== "status" || event.status !== "parked" || !own.has(event.run_id)) return;
      for (const listener of parked) listener(event.run_id);
    },
    onParked: (listener) => {
      parked.add(listener);
      return () => parked.delete(listener);
    },
  };
}

const MOST_AGENTS = 1000;
const LOOKS = 100;
const LOOK_MS = 50;

/** The record of an approval. Where another process runs the agent, the event may come a moment before it. */
async function recordIn(
  { approvals }: InStore["trackside"],
  id: string,
  scope: InStore["scope"],
): Promise<Approval | undefined> {
  for (let look = 0; look < LOOKS; look++) {
    const found = await approvals.get(id, scope).catch(() => undefined);
    if (found !== undefined) return found;
    await pause(LOOK_MS);
  }
  return undefined;
}

/** The store has the conversation; what is held of it here may be older. */
function conversationId(conversation: string | { readonly id: string } | undefined): string | undefined {
  return typeof conversation === "object" ? conversation.id : conversation;
}

/**
 * A turn in a store, to its end or as far as it comes in this process. Where it is parked, or this process has lost it,
 * nothing more is to come here.
 */
export async function turnInStore(
  { trackside, screen, fromFile = false }: InStore,
  agent: Pick<ConfiguredAgent, "onParked">,
  turn: () => Promise<Ending>,
): Promise<Ending> {
  const stopped = Promise.withResolvers<Ending>();
  let isStopped = false;
  const stop = (runId: string, change: "left" | "parked") => {
    if (isStopped) return; // this process heard of it twice
    isStopped = true;
    const id = shortId(runId);
    const next =
      change === "left"
        ? `It stopped here, and goes on in the next worker: trackside runs tail ${id}`
        : `It is parked: trackside runs show ${id} says why, trackside runs resume ${id} lets it go on.`;
    const needed = fromFile ? " These need a trackside.config.ts on the same store." : "";
    screen.settled();
    screen.line(`${screen.paint("yellow", "!")} ${next}${needed}`);
    stopped.resolve({ exitCode: EXIT.failed, conversation: undefined });
  };
  const unwatch = trackside.engine.onRun(({ runId, change }) => {
    if (change === "left" || change === "parked") stop(runId, change);
  });
  // Told of after it was shown, with why.
  const unhear = agent.onParked((runId) => setImmediate(() => stop(runId, "parked")));
  try {
    return await Promise.race([turn(), stopped.promise]);
  } finally {
    unwatch();
    unhear();
  }
}
