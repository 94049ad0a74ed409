import { type AgentBinding, type Json, RunCancelledError, type RunResult, TracksideError } from "trackside";
import { newId } from "trackside/engine";
import type { AgentRecord, Agents } from "../agents/agents.ts";
import type { Toolkit } from "../agents/toolkit.ts";
import type { DurableEngine } from "../journal/durable-engine.ts";
import type { Runs } from "../runs/runs.ts";
import { rows } from "../store/store.ts";
import { StoreError } from "../store/store-error.ts";
import { derivedFromCode, derivedFromStored, type PlanRole } from "./derived-agents.ts";

export interface PlanRunsInit {
  readonly engine: DurableEngine;
  readonly agents: Agents;
  readonly toolkit: Toolkit;
  readonly runs: Runs;
  /** Agents in code. */
  readonly code: readonly AgentBinding[];
  /** The agent that runs under a name. */
  readonly find: (
    name: string,
    tenant: string,
  ) => Promise<{ readonly id?: string; readonly binding: AgentBinding }>;
}

/** A run that a plan needs. */
export interface AskedRun {
  readonly tenant: string;
  readonly agentId: string;
  /** The agent itself, or who is made of it. */
  readonly role: PlanRole | "worker";
  readonly prompt: string;
  readonly requestId: string;
  /** Beside the tenant: for rails and hooks, and to find it again. */
  readonly scope: Readonly<Record<string, Json>>;
  /** It is only begun to be stopped. */
  readonly isStopped: boolean;
}

export interface BegunRun {
  readonly runId: string;
  readonly conversationId: string;
}

/** How a run is, as far as a plan is concerned. */
export type RunLook = "gone" | "over" | "stopping" | "open";

/** What a run that is over came to. */
export type RunEnd =
  | { readonly kind: "answered"; readonly result: RunResult<unknown> }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "cancelled"; readonly reason: string };

const STOPPED: Readonly<Record<string, string>> = {
  max_steps: "It made as many steps as it may without an answer.",
  budget: "It used up its budget without an answer.",
};

/** Runs of plans: real ones, of the agent or of somebody made of its definition, behind its rails and gates. */
export class PlanRuns {
  readonly #init: PlanRunsInit;

  constructor(init: PlanRunsInit) {
    this.#init = init;
  }

  /**
   * Makes those known who are made of agents in code, so that a run of theirs that another process left is taken up as
   * any other. Agents made at run time are made again from what the run is pinned to.
   */
  register(): void {
    for (const agent of this.#init.code)
      for (const role of ["planner", "judge"] as const)
        try {
          this.#init.engine.registry.add(derivedFromCode(agent, role));
        } catch {
          // What is wrong with it is told to whoever asks for such a run.
        }
  }

  /** Begins it; the same request again is the same run. */
  async begin(asked: AskedRun): Promise<BegunRun> {
    const { engine } = this.#init;
    const { tenant, agentId, role, prompt, requestId, isStopped } = asked;
    const record = await this.#init.agents.get(agentId, { tenant });
    const { id, binding } = await this.#agent(record, tenant, role);
    const scope = { ...asked.scope, tenant };
    const request = engine.read(binding, prompt, { requestId, scope }, false);
    const { runId, conversationId } = await engine.begin(binding, request, {
      runId: newId("run"),
      turnRef: newId("turn"),
      owned: !isStopped,
      agentId: id,
    });
    return { runId, conversationId };
  }

  async #agent(
    record: AgentRecord,
    tenant: string,
    role: AskedRun["role"],
  ): Promise<{ readonly id?: string | undefined; readonly binding: AgentBinding }> {
    const { engine, toolkit, find } = this.#init;
    const found = await find(record.name, tenant);
    if (role === "worker") return found;
    if (found.id !== undefined)
      return { id: found.id, binding: derivedFromStored(toolkit, record.definition, role) };
    const binding = derivedFromCode(found.binding, role);
    engine.registry.add(binding);
    return { binding };
  }

  async look(tenant: string, runId: string): Promise<RunLook> {
    const [row] = await this.#init.engine.store.read((db) =>
      rows(
        db
          .selectFrom("runs")
          .select(["ended_at", "cancel_reason"])
          .where("id", "=", runId)
          .where("tenant", "=", tenant),
      ),
    );
    if (row === undefined) return "gone";
    if (row.ended_at !== null) return "over";
    return row.cancel_reason === null ? "open" : "stopping";
  }

  async cancel(tenant: string, runId: string, reason: string): Promise<void> {
    await this.#init.runs.cancel(runId, { tenant, reason });
  }

  /** What came of a run that is over. */
  async end(tenant: string, runId: string): Promise<RunEnd> {
    try {
      const result = await this.#init.engine.result(tenant, runId);
      const { stopReason, reason } = result;
      if (stopReason === "answered") return { kind: "answered", result };
      return { kind: "failed", reason: STOPPED[stopReason ?? ""] ?? reason ?? "It gave no answer." };
    } catch (error) {
      if (error instanceof RunCancelledError) return { kind: "cancelled", reason: error.message };
      if (error instanceof StoreError || !(error instanceof TracksideError)) throw error; // looked at again later
      return { kind: "failed", reason: error.message };
    }
  }
}
