import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "../store/store.ts";
import { StoreError } from "../store/store-error.ts";

const AGAIN_MS = 500;

/**
 * The store as a run under way sees it: a write that finds no room, or a disk that failed and wrote nothing, is made again
 * until it works. What a tool has done must not be forgotten for want of room, so the run waits with it in hand.
 * `waits` is told why, and answers whether to go on.
 */
export function patientStore(store: Store, waits: (why: string) => boolean): Store {
  const patiently = async <T>(write: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if (!mayPass(error) || !waits(error.message)) throw error;
      }
      await sleep(AGAIN_MS);
    }
  };
  return {
    name: store.name,
    ...(store.reach === undefined ? {} : { reach: store.reach }),
    open: () => store.open(),
    close: () => store.close(),
    read: (work) => store.read(work),
    write: (work) => patiently(() => store.write(work)),
    append: (entry, with_) => patiently(() => store.append(entry, with_)),
    onChange: (listener) => store.onChange(listener),
  };
}

/** Of a write that may have landed nobody can say that making it again is right: then the run is read anew. */
function mayPass(error: unknown): error is StoreError {
  if (!(error instanceof StoreError) || error.unknown) return false;
  return error.fault === "full" || error.fault === "io" || error.fault === "unavailable";
}
