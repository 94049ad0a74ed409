import {
  type AgentBinding,
  type AgentDefinition,
  HookManager,
  type RunResult,
  TracksideError,
} from "trackside";
import {
  bindAgent,
  compileSchema,
  conversationWith,
  type EngineParts,
  Log,
  RunContext,
  resultOf,
  startState,
} from "trackside/engine";
import type { TurnState } from "trackside/loop";
import { branchMessages } from "../conversations/branch-log.ts";
import { rows, type Store } from "../store/store.ts";
import type { AgentRegistry } from "./agent-registry.ts";
import { answerFrom } from "./children.ts";
import type { Codec } from "./codec.ts";
import { loadRun, messagesOf, planIn, usageIn } from "./run-records.ts";

export interface ResultInit {
  readonly store: Store;
  readonly codec: Codec;
  readonly registry: AgentRegistry;
  readonly parts: EngineParts;
}

const POLL_MS = 100;

/** The result of a run that another process ends, or that is over: read from its rows when they are all there. */
export async function storedResult(
  init: ResultInit,
  tenant: string,
  runId: string,
): Promise<RunResult<unknown>> {
  const { store, codec, registry, parts } = init;
  while (!(await isOver(store, tenant, runId)))
    await new Promise<void>((resolve) => parts.clock.after(POLL_MS, resolve));
  const loaded = await store.read((db) => loadRun(db, runId, codec));
  if (loaded === undefined) throw unknownRun(runId);
  const { row, body } = loaded;
  const isChild = row.parent_run_id !== null;
  const found = isChild
    ? { binding: bareAgent(loaded.definition) }
    : registry.bind(row.agent, loaded, row.definition_digest, { isStored: row.agent_id !== null });
  if ("problem" in found && row.agent_id === null)
    throw new TracksideError("not_available", `The result of run ${runId} cannot be read: ${found.problem}`);
  const binding = "problem" in found ? answering(loaded.definition) : found.binding;
  const messages = await store.read((db) => messagesOf(db, loaded.commits, codec));
  const all = await store.read((db) => branchMessages(db, row.branch_id, codec));
  const logged = loaded.commits.reduce(
    (n, { body: { notes } }) =>
      n + notes.reduce((m, note) => m + (note.type === "logged" ? note.message_ids.length : 0), 0),
    0,
  );
  const log = new Log(all.slice(0, body.from + logged));
  const run = new RunContext({
    id: runId,
    turnRef: row.turn_ref,
    scope: loaded.scope,
    agent: bindAgent(binding),
    log,
    parts,
    userMessage: loaded.user,
    sink: undefined,
    approver: undefined,
    resumed: {
      seq: 0,
      recorded: [...messages.values()].map(({ message }) => message),
      plan: planIn(loaded.commits),
      usage: usageIn(loaded.commits),
    },
  });
  const ended = loaded.commits.findLast(({ body: commit }) => commit.ended !== undefined)?.body.ended;
  const turn = { run_id: runId, turn_ref: row.turn_ref, log: body.from, message_id: loaded.user.id };
  const state: TurnState = ended ?? { ...startState(turn), outcome: body.outcome };
  const result = await resultOf(run, state, conversationWith(row.branch_id, log), body.from);
  const structured = isChild ? (await answerFrom(store, codec, loaded))?.structured : undefined;
  return structured === undefined ? result : Object.defineProperty(result, "output", { value: structured });
}

/** Asked again and again: one column, not the run. */
async function isOver(store: Store, tenant: string, runId: string): Promise<boolean> {
  const [row] = await store.read((db) =>
    rows(db.selectFrom("runs").select("ended_at").where("id", "=", runId).where("tenant", "=", tenant)),
  );
  if (row === undefined) throw unknownRun(runId);
  return row.ended_at !== null;
}

function unknownRun(runId: string): TracksideError {
  return new TracksideError("config_invalid", `There is no run ${runId}.`);
}

/** A stored agent whose tools are gone: what it answered can be read all the same. */
function answering(definition: AgentDefinition): AgentBinding {
  const { output_schema } = definition;
  return {
    ...bareAgent({ ...definition, handoffs: [] }),
    output: output_schema === null ? null : compileSchema(output_schema),
  };
}

/** A sub-agent was made for its job, and nobody has it any more; of what it said nothing but its schema is missing. */
function bareAgent(definition: AgentDefinition): AgentBinding {
  return {
    definition: { ...definition, mcp_servers: [] },
    tools: [],
    models: [],
    planningModel: null,
    team: [],
    output: null,
    hookManager: new HookManager(),
    pipeline: { pre: [], post: [], stream: [] },
    missing: [],
  };
}
