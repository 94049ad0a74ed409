import type { Scope } from "../schema/run.ts";
import type { HeldTool, ToolServers } from "../tools/tool-servers.ts";
import type { ApprovalDesk } from "./approvals.ts";
import type { Served } from "./bound-agent.ts";
import { type Customer, connectServers, type Supplies } from "./served.ts";

/** What a run has to do with its servers. */
export interface SuppliesInit {
  readonly runId: string;
  readonly scope: Scope;
  readonly servers: ToolServers | undefined;
  readonly isResumed: boolean;
  customers(): readonly Customer[];
  approvals(): ApprovalDesk;
  /** The run has these tools from now on. */
  equip(served: Served): void;
}

const NOTHING: Supplies = { served: new Map(), held: [], withheld: [], release: () => {} };

/** The servers of one run: connected when their tools are first needed, let go at its end. */
export class RunSupplies {
  readonly #init: SuppliesInit;
  #connected: Promise<Supplies> | undefined;
  #served: Served = new Map();
  #isOver = false;

  constructor(init: SuppliesInit) {
    this.#init = init;
  }

  get isConnected(): boolean {
    return this.#connected !== undefined;
  }

  connect(): Promise<Supplies> {
    this.#connected ??= this.#connect();
    return this.#connected;
  }

  /** A changed definition was approved: the tool joins the run, at the end of the list (H9). */
  async admit(agent: string, tool: HeldTool): Promise<void> {
    await tool.approve();
    const served = new Map(this.#served);
    served.set(agent, [...(served.get(agent) ?? []), tool.make()]);
    this.#equip(served);
  }

  /** The run is over: nobody needs to decide about its tools any more. */
  end(): void {
    void this.#connected?.then(
      ({ held }) => {
        const desk = this.#init.approvals();
        for (const { tool } of held) {
          const id = definitionApproval(this.#init.runId, tool);
          if (desk.get(id)?.state === "pending") desk.cancel(id, "the run is over");
        }
      },
      () => {}, // nothing was held
    );
    this.release();
  }

  /** The run is over, or goes on elsewhere. */
  release(): void {
    this.#isOver = true;
    this.#connected?.then(({ release }) => release()).catch(() => {}); // what failed has let go by itself
  }

  async #connect(): Promise<Supplies> {
    const { runId, scope, servers, isResumed, customers, approvals } = this.#init;
    const supplies = await connectServers(customers(), servers, scope).catch((error: unknown) => {
      if (isResumed) return NOTHING; // a run that is under way goes on with what it has; calls of the others fail
      throw error;
    });
    if (this.#isOver) supplies.release();
    this.#equip(supplies.served);
    for (const { agent, tool } of supplies.held)
      if (approvals().get(definitionApproval(runId, tool))?.state === "approved")
        await this.admit(agent, tool);
    return supplies;
  }

  #equip(served: Served): void {
    this.#served = served;
    this.#init.equip(served);
  }
}

/** The record that a changed definition is decided by: the same for every life of a run. */
export function definitionApproval(runId: string, { digest }: HeldTool): string {
  return `${runId}.definition.${digest.slice(0, 16)}`;
}
