import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cipher, isSealedText, keyring } from "../../src/secrets/index.ts";
import { testCipher } from "./support.ts";

const CONTEXT = ["secret", "default", "openai"] as const;

describe("what is encrypted", () => {
  test("opens again for the same context", () => {
    const box = testCipher();
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string(), fc.string(), (value, tenant, name) => {
        const text = value.toWellFormed();
        const sealed = box.seal(text, ["secret", tenant, name]);
        expect(Buffer.from(box.open(sealed, ["secret", tenant, name])).toString("utf8")).toBe(text);
        const written = box.sealText(text, [tenant, name]);
        expect(isSealedText(written)).toBe(true);
        expect(box.openText(written, [tenant, name])).toBe(text);
      }),
    );
  });

  test("does not open after any bit of it was flipped", () => {
    const box = testCipher();
    const sealed = box.seal("sk-live-0123456789", CONTEXT);
    for (const field of ["nonce", "content"] as const) {
      for (let bit = 0; bit < sealed[field].length * 8; bit++) {
        const bytes = Uint8Array.from(sealed[field]);
        bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(() => box.open({ ...sealed, [field]: bytes }, CONTEXT)).toThrow(/does not open/);
      }
    }
  });

  test("does not open after any letter of its text was changed", () => {
    const box = testCipher();
    const text = box.sealText("thought", CONTEXT);
    for (let at = "enc:v1:k1:".length; at < text.length; at++) {
      const other = text[at] === "A" ? "B" : "A";
      expect(() => box.openText(text.slice(0, at) + other + text.slice(at + 1), CONTEXT)).toThrow(
        /does not open/,
      );
    }
    for (let length = 0; length < text.length; length++)
      expect(() => box.openText(text.slice(0, length), CONTEXT)).toThrow();
    expect(() => box.openText(`${text}A`, CONTEXT)).toThrow(/does not open/);
  });

  test("does not open for another context, however it is cut", () => {
    const box = testCipher();
    const sealed = box.seal("value", ["secret", "a", "bc"]);
    for (const context of [
      ["secret", "ab", "c"],
      ["secret", "a", "bc", ""],
      ["secret", "a"],
      ["a", "bc"],
      ["secret", "b", "bc"],
    ] as const)
      expect(() => box.open(sealed, context)).toThrow(/does not open/);
  });

  test("never has a nonce twice, nor the same bytes for the same value", () => {
    const box = testCipher();
    const nonces = new Set<string>();
    const contents = new Set<string>();
    for (let i = 0; i < 5000; i++) {
      const { nonce, content } = box.seal("the same", CONTEXT);
      expect(nonce.length).toBe(12);
      nonces.add(Buffer.from(nonce).toString("hex"));
      contents.add(Buffer.from(content).toString("hex"));
    }
    expect(nonces.size).toBe(5000);
    expect(contents.size).toBe(5000);
  });

  test("names the key that is missing and what to set", () => {
    const sealed = testCipher("old").seal("value", CONTEXT);
    const box = testCipher("new");
    expect(() => box.open(sealed, CONTEXT)).toThrow(
      /under the key "old", which keyring.* does not hold \(there: new\)/,
    );
  });

  test("does not open with another key of the same id", () => {
    const sealed = testCipher().seal("value", CONTEXT);
    expect(() => testCipher().open(sealed, CONTEXT)).toThrow(/the key by that id is another one/);
  });

  test("still opens with an older key while new things are under the current one", () => {
    const keys = { old: randomBytes(32), new: randomBytes(32) };
    const before = cipher(keyring({ current: "old", keys })).sealText("value", CONTEXT);
    const after = cipher(keyring({ current: "new", keys }));
    expect(after.openText(before, CONTEXT)).toBe("value");
    expect(after.sealText("value", CONTEXT)).toMatch(/^enc:v1:new:/);
  });

  test("what is no encrypted text is told apart", () => {
    for (const text of ["", "enc:v1:", "enc:v1:k1:", "enc:v2:k1:AAAA", "plain", "enc:v1:k 1:AAAA"]) {
      expect(isSealedText(text)).toBe(false);
      expect(() => testCipher().openText(text, CONTEXT)).toThrow(/is not an encrypted text/);
    }
  });
});
