import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  cipher,
  defaultKeyring,
  fileKeyring,
  keyring,
  keyringFromEnv,
  passingKeyring,
} from "../../src/secrets/index.ts";
import { tempDir } from "./support.ts";

const bytes = randomBytes(32);

describe("TRACKSIDE_SECRET_KEY", () => {
  const read = (value: string) => keyringFromEnv({ TRACKSIDE_SECRET_KEY: value });

  test("is one key in base64, base64url or hex, always with the same id", () => {
    const texts = [
      bytes.toString("base64"),
      bytes.toString("base64url"),
      bytes.toString("hex"),
      ` ${bytes.toString("hex").toUpperCase()}\n`,
    ];
    const rings = texts.map((text) => read(text));
    for (const ring of rings) expect(Buffer.from(ring?.current().bytes ?? [])).toEqual(bytes);
    expect(new Set(rings.map((ring) => ring?.current().id)).size).toBe(1);
  });

  test("is several keys, the first current", () => {
    const ring = read(`b:${bytes.toString("hex")}, a:${randomBytes(32).toString("base64")}`);
    expect(ring?.current().id).toBe("b");
    expect(ring?.ids()).toEqual(["b", "a"]);
    expect(ring?.find("c")).toBeUndefined();
  });

  test("is not there when it is not set", () => {
    expect(keyringFromEnv({})).toBeUndefined();
    expect(read("  ")).toBeUndefined();
  });

  test("is refused without repeating it", () => {
    const almost = bytes.toString("hex").slice(1);
    for (const value of [
      almost,
      `k:${almost}`,
      `k:${bytes.toString("hex")},k2:${almost}`,
      "change-me",
      `a b:${bytes.toString("hex")}`,
    ]) {
      let message = "";
      try {
        read(value);
      } catch (error) {
        message = String(error);
      }
      expect(message).toMatch(/TRACKSIDE_SECRET_KEY/);
      expect(message).not.toContain(almost.slice(0, 12));
    }
    expect(() => read(almost)).toThrow(/63 characters given, which is not a key; a key is 32 random bytes/);
    expect(() => read(`a:${bytes.toString("hex")},a:${bytes.toString("hex")}`)).toThrow(
      /two keys with the id "a"/,
    );
  });
});

test("a keyring in code names a current key that it has", () => {
  expect(() => keyring({ current: "x", keys: { y: bytes } })).toThrow(/"x", which is not in keys \("y"\)/);
  expect(() => keyring({ current: "y", keys: { y: bytes.subarray(1) } })).toThrow(/31 bytes given/);
});

describe("a key file", () => {
  test("is made for its owner only, the first time something is encrypted, and found again", () => {
    const path = join(tempDir(), "trackside.key");
    const ring = fileKeyring(path);
    expect(ring.ids()).toEqual([]);
    expect(ring.find("k")).toBeUndefined();
    expect(existsSync(path)).toBe(false);
    const sealed = cipher(ring).sealText("value", ["a"]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(cipher(fileKeyring(path)).openText(sealed, ["a"])).toBe("value");
    expect(readdirSync(join(path, ".."))).toEqual(["trackside.key"]);
  });

  test("is made once, whoever is first", () => {
    const path = join(tempDir(), "trackside.key");
    const rings = Array.from({ length: 5 }, () => fileKeyring(path));
    for (const ring of rings) ring.ids();
    expect(new Set(rings.map((ring) => ring.current().id)).size).toBe(1);
  });

  test("is refused when others can read it", () => {
    const path = join(tempDir(), "trackside.key");
    fileKeyring(path).current();
    for (const mode of [0o644, 0o604, 0o620, 0o602, 0o601]) {
      chmodSync(path, mode);
      expect(() => fileKeyring(path).current()).toThrow(
        /can be read by others \(mode 06\d\d\); run `chmod 600`/,
      );
    }
    chmodSync(path, 0o640);
    expect(fileKeyring(path).current().bytes.length).toBe(32);
  });

  test("takes another key while it is in use: the first line is current from the next start on", () => {
    const path = join(tempDir(), "trackside.key");
    const ring = fileKeyring(path);
    const old = ring.current();
    writeFileSync(path, `# rotated\nnew:${bytes.toString("base64")}\n${readFileSync(path, "utf8")}`);
    expect(ring.find("new")?.id).toBe("new");
    expect(fileKeyring(path).current().id).toBe("new");
    expect(fileKeyring(path).find(old.id)?.id).toBe(old.id);
  });

  test("that is damaged or cannot be made says so", () => {
    const dir = tempDir();
    const path = join(dir, "trackside.key");
    writeFileSync(path, "not a key\n", { mode: 0o600 });
    expect(() => fileKeyring(path).current()).toThrow(
      /trackside\.key: 9 characters given, which is not a key/,
    );
    writeFileSync(path, "");
    expect(() => fileKeyring(path).current()).toThrow(/holds no key/);
    expect(() => fileKeyring(join(dir, "no", "such.key")).current()).toThrow(
      /cannot be made \(ENOENT\); set TRACKSIDE_SECRET_KEY/,
    );
  });
});

describe("the keys of a host that was given none", () => {
  const env = { TRACKSIDE_SECRET_KEY: `env:${bytes.toString("hex")}` };

  test("are those of the variable, else those of the file", () => {
    const file = join(tempDir(), "trackside.key");
    expect(defaultKeyring({ env }).current().id).toBe("env");
    expect(defaultKeyring({ env, file }).current().id).toBe("env");
    expect(existsSync(file)).toBe(false);
    expect(defaultKeyring({ env: {}, file }).current().id).toBe(fileKeyring(file).current().id);
  });

  test("are both once the variable is set: what the file's key closed still opens", () => {
    const file = join(tempDir(), "trackside.key");
    const sealed = cipher(defaultKeyring({ env: {}, file })).sealText("value", ["a"]);
    const both = cipher(defaultKeyring({ env, file }));
    expect(both.openText(sealed, ["a"])).toBe("value");
    expect(both.sealText("value", ["a"])).toMatch(/^enc:v1:env:/);
    expect(both.keyring.ids()).toHaveLength(2);
  });

  test("are none where there is neither: nothing fails until one is needed, then it says what to set", () => {
    const ring = defaultKeyring({ env: {} });
    expect(ring.ids()).toEqual([]);
    expect(() => ring.current()).toThrow(/Set TRACKSIDE_SECRET_KEY to 32 random bytes/);
  });

  test("a passing key lasts as long as its keyring", () => {
    const sealed = cipher(passingKeyring()).sealText("value", ["a"]);
    expect(() => cipher(passingKeyring()).openText(sealed, ["a"])).toThrow(/does not open/);
  });
});
