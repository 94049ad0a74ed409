import { type Clock, localEngine } from "trackside";
import { systemClock } from "../../src/local/clock.ts";
import { HURRIED } from "./stage.ts";

/** A clock whose timers run faster than the day. */
export function hurriedClock(times: number): Clock {
  return { ...systemClock, after: (ms, run) => systemClock.after(ms / times, run) };
}

/** A clock on which a second passes only at a `tick`. Shorter waits, such as those before a retry, take real time. */
export function steppedClock(): Clock & { readonly tick: () => void } {
  const waiting = new Set<() => void>();
  const after: Clock["after"] = (ms, run) => {
    if (ms < 1000) return systemClock.after(ms, run);
    waiting.add(run);
    return { stop: () => void waiting.delete(run) };
  };
  const tick = () => {
    const due = [...waiting];
    waiting.clear();
    for (const run of due) run();
  };
  return { ...systemClock, after, tick };
}

/** Gives up a silent model after three ticks of its clock. */
export function impatientEngine() {
  const clock = steppedClock();
  return { clock, engine: localEngine({ clock, modelIdleMs: 2_000, retry: HURRIED }) };
}

/** Notes what the engine waits for before it tries again, and lets it pass at once. */
export function notingClock(): Clock & { readonly waits: number[] } {
  const waits: number[] = [];
  const after: Clock["after"] = (ms, run) => {
    if (ms === 1000) return systemClock.after(ms, run); // the tick of the watchdog
    waits.push(ms);
    return systemClock.after(0, run);
  };
  return { ...systemClock, after, waits };
}
