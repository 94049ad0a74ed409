import { plural } from "../../format/number.ts";
import type { SentRequest } from "./types.ts";

/** What a request has that the one before it in its lane had not, or had otherwise. */
interface RequestChanges {
  readonly system: boolean;
  readonly model: boolean;
  readonly toolsAdded: readonly string[];
  readonly toolsRemoved: readonly string[];
  readonly toolsChanged: readonly string[];
  /** Messages at the beginning that are the same. */
  readonly kept: number;
  /** Of the one before, that are gone or otherwise. */
  readonly gone: number;
  /** Of this one, after what is kept. */
  readonly added: number;
}

/** The request before it in its own lane: a step's follows a step's, a planner's a planner's. */
export function before(requests: readonly SentRequest[], request: SentRequest): SentRequest | undefined {
  const at = requests.findIndex(({ key }) => key === request.key);
  return requests.slice(0, Math.max(0, at)).findLast((other) => other.kind === request.kind);
}

export function changesOf(earlier: SentRequest, request: SentRequest): RequestChanges {
  const tools = new Map(earlier.tools.map((tool) => [tool.name, JSON.stringify(tool)]));
  const now = new Map(request.tools.map((tool) => [tool.name, JSON.stringify(tool)]));
  let kept = 0;
  while (
    kept < earlier.messages.length &&
    kept < request.messages.length &&
    JSON.stringify(earlier.messages[kept]) === JSON.stringify(request.messages[kept])
  )
    kept += 1;
  return {
    system: earlier.system !== request.system,
    model: earlier.model !== request.model,
    toolsAdded: [...now.keys()].filter((name) => !tools.has(name)),
    toolsRemoved: [...tools.keys()].filter((name) => !now.has(name)),
    toolsChanged: [...now]
      .filter(([name, text]) => tools.has(name) && tools.get(name) !== text)
      .map(([name]) => name),
    kept,
    gone: earlier.messages.length - kept,
    added: request.messages.length - kept,
  };
}

/** The changes as short sentences, the ones that cost a cache first. */
export function changeWords(changes: RequestChanges): string[] {
  const names = (list: readonly string[]) => list.join(", ");
  return [
    changes.model && "Another model",
    changes.system && "The system prompt changed",
    changes.toolsAdded.length > 0 && `Tools added: ${names(changes.toolsAdded)}`,
    changes.toolsRemoved.length > 0 && `Tools removed: ${names(changes.toolsRemoved)}`,
    changes.toolsChanged.length > 0 && `Tools changed: ${names(changes.toolsChanged)}`,
    changes.gone > 0 && `${plural(changes.gone, "message")} gone or changed`,
    changes.added > 0 && `${plural(changes.added, "message")} new`,
    `${plural(changes.kept, "message")} the same`,
  ].filter((words) => words !== false);
}
