import { keyring } from "@trackside/host";

/** The same in every process of a test. */
export const KEYS = keyring({ current: "test", keys: { test: new Uint8Array(32).fill(7) } });
