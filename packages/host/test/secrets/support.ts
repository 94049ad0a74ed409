import { randomBytes } from "node:crypto";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { type Cipher, cipher, keyring } from "../../src/secrets/index.ts";
import { sqlite } from "../../src/store/index.ts";
import type { Store } from "../../src/store/store.ts";

/** An empty store that is gone when the test ends. */
export async function memoryStore(): Promise<Store> {
  const store = sqlite(":memory:");
  await store.open();
  onTestFinished(() => store.close());
  return store;
}

export function testCipher(id = "k1"): Cipher {
  return cipher(keyring({ current: id, keys: { [id]: randomBytes(32) } }));
}

export const tempDir = () => temporaryFolder("vault");
