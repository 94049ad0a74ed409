import { type Clock, localEngine } from "trackside";
import { systemClock } from "../../src/local/clock.ts";
import { HURRIED } from "./stage.ts";

/** A clock whose timers run faster than the day. */
export function hurriedClock(times: number): Clock {
  return { ...systemClock, after: (ms, run) => systemClock.after(ms / times, run) };
}

/** Gives up a silent model after about two seconds: one that answers may take a while on a busy machine. */
export function impatientEngine() {
  return localEngine({ clock: hurriedClock(10), modelIdleMs: 20_000, retry: HURRIED });
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
