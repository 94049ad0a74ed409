import type { DurableEvent, LiveEvent } from "trackside";

interface OpenCall {
  readonly tool: string;
  readonly approvals: Set<string>;
  readonly children: Set<string>;
}

/**
 * Whether a run, with its sub-agents, can do nothing more until somebody decides: every call that is open waits, or stands
 * in line behind one that does. Made from the run's events, in their order.
 */
export class PauseTracker {
  readonly #calls = new Map<string, Map<string, OpenCall>>();
  readonly #root: string;
  readonly #takesTurns: (tool: string) => boolean;

  /** `takesTurns`: whether calls of a tool may have to wait for one another. */
  constructor(root: string, takesTurns: (tool: string) => boolean) {
    this.#root = root;
    this.#takesTurns = takesTurns;
  }

  read(event: DurableEvent | LiveEvent): void {
    switch (event.type) {
      case "tool_call":
        this.#of(event.run_id).set(event.call_id, {
          tool: event.tool,
          approvals: new Set(),
          children: new Set(),
        });
        break;
      case "tool_result":
        this.#of(event.run_id).delete(event.call_id);
        break;
      case "approval": {
        const call = this.#of(event.run_id).get(event.call_id ?? "");
        if (event.state === "pending") call?.approvals.add(event.approval_id);
        else call?.approvals.delete(event.approval_id);
        break;
      }
      case "subagent": {
        const call = this.#of(event.run_id).get(event.call_id);
        if (event.state === "started") call?.children.add(event.child_run_id);
        else {
          call?.children.delete(event.child_run_id);
          this.#calls.delete(event.child_run_id);
        }
        break;
      }
      default:
        break;
    }
  }

  /** What is waited for; empty unless nothing else is going on. */
  get waitingFor(): readonly string[] {
    return this.#blocked(this.#root) ?? [];
  }

  #of(runId: string): Map<string, OpenCall> {
    const known = this.#calls.get(runId) ?? new Map<string, OpenCall>();
    this.#calls.set(runId, known);
    return known;
  }

  #blocked(runId: string): readonly string[] | undefined {
    const waiting: string[] = [];
    const stuck: string[] = [];
    for (const call of this.#of(runId).values()) {
      const found = this.#blocking(call);
      if (found !== undefined) {
        waiting.push(...found);
        stuck.push(call.tool);
      } else if (!stuck.some((tool) => this.#takesTurns(tool) || this.#takesTurns(call.tool)))
        return undefined;
    }
    return waiting.length > 0 ? waiting : undefined;
  }

  #blocking({ approvals, children }: OpenCall): readonly string[] | undefined {
    if (approvals.size > 0) return [...approvals];
    if (children.size === 0) return undefined;
    const found = [...children].map((child) => this.#blocked(child));
    return found.every((one) => one !== undefined) ? found.flat() : undefined;
  }
}
