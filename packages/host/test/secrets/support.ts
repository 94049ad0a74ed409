import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
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

export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "trackside-vault-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
