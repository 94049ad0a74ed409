// For engines: the loop and what it asks of them. No zod, no Node: fit for a workflow sandbox.
export type { PinnedAgent } from "./schema/agent.ts";
export type { TurnStart, TurnState } from "./schema/turn-state.ts";
export { expand, type Stamp } from "./turn/expand.ts";
export {
  type Asked,
  type CommitRow,
  Divergence,
  driveJournal,
  type EffectKind,
  type JournalHost,
} from "./turn/journal.ts";
export { isEvent, type Note } from "./turn/note.ts";
export type {
  ChildOrder,
  EffectAnswer,
  EffectOrder,
  OpenedTurn,
  PlacedRow,
  RowsOrder,
} from "./turn/remote.ts";
export { runTurn } from "./turn/run-turn.ts";
export { NO_USAGE } from "./turn/state.ts";
export type * from "./turn/world.ts";
