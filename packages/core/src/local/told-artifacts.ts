import type { LogEntry } from "../schema/projection.ts";
import type { BoundAgent } from "./bound-agent.ts";

const NAMED = /art_[\w-]+\.\w/;

/**
 * Whether sub-agents have told of artifacts in what they answered. They leave them in the conversation, and its log does not
 * say so otherwise. Looks at each entry once.
 */
export class ToldArtifacts {
  #looked = 0;
  #found = false;

  lookAt(log: readonly LogEntry[], agent: BoundAgent): boolean {
    for (; !this.#found && this.#looked < log.length; this.#looked++) {
      const entry = log[this.#looked];
      if (entry?.role !== "tool" || agent.loopTool(entry.tool)?.kind !== "spawn") continue;
      this.#found = NAMED.test(JSON.stringify(entry.output));
    }
    return this.#found;
  }
}
