/**
 * The work every contestant does: the model asks `steps` times for the tool `add` with `{"n": k}`, then answers `done`;
 * or it answers one text in `deltas` pieces.
 */
export const PROMPT = "go";
export const TOOL = { name: "add", description: "Adds one to a number." };
export const DONE = "done";
export const DELTA = "token ";
export const MAX_STEPS = 1000;

/** What a parent is asked, and the jobs its model gives to as many sub-agents: each does what the others are given alone. */
export const PARENT_PROMPT = "share the work";
export const JOBS = Array.from({ length: 7 }, () => ({ task: PROMPT }));

/** What the tool saw. Scenarios read it to check that a run did its work, and hang a probe on it. */
export const tool = { calls: 0, onCall: undefined as (() => void) | undefined };

export function add(n: number): number {
  tool.calls++;
  tool.onCall?.();
  return n + 1;
}

/**
 * Which step a model call belongs to, from the length of the history it was sent: one user message, then a call and a
 * result per step. So a fake model has no state, and a thousand runs can share one.
 */
export function stepOf(messages: number): number {
  return (messages - 1) >> 1;
}

/** One agent, or model, per script, made on first use, as a program would hold it. */
export function perScript<T>(make: (script: Script) => T): (script: Script) => T {
  const made = new Map<string, T>();
  return (script) => {
    const key = `${script.steps}/${script.deltas}`;
    let value = made.get(key);
    if (value === undefined) {
      value = make(script);
      made.set(key, value);
    }
    return value;
  };
}

/** What the fake model is to say: so many tool calls, then a text in so many pieces. */
export interface Script {
  steps: number;
  deltas: number;
}

/** Where a durable contestant keeps its runs, and what a commit is to survive: `full` a power cut, `normal` a kill. */
export interface Disk {
  path: string;
  sync: "full" | "normal";
}

/** A contestant with its store open. */
export interface Durable {
  run(script: Script): Promise<string>;
  close(): Promise<void>;
}

export interface Contestant {
  /** Ways to run the agent to its end. Each resolves to the final text and everything a caller would keep of the run. */
  run: Record<string, (script: Script) => Promise<{ text: string; kept: unknown }>>;
  /** Ways to iterate over text as it arrives. */
  stream: Record<string, (script: Script, onDelta: (text: string) => void) => Promise<void>>;
  /** A runner with `count` hooks at each point of the lifecycle this library lets one hook into. */
  hooked?: (count: number, hook: () => Promise<void>) => (script: Script) => Promise<unknown>;
  /** Ways to run the agent so that a killed process loses nothing that was done. */
  durable?: Record<string, (disk: Disk) => Promise<Durable>>;
  /** The same with a tool that must not run twice, for a contestant that knows the difference. */
  once?: (disk: Disk) => Promise<Durable>;
  /** One run whose model gives `JOBS` to sub-agents that work at once, each through the script, and then answers. */
  tree?: (script: Script) => Promise<{ text: string; kept: unknown }>;
  /** The same with rails. */
  railed?: (count: number, rail: () => Promise<void>) => (script: Script) => Promise<unknown>;
}
