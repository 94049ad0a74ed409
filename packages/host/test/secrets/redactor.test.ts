import fc from "fast-check";
import { expect, test } from "vitest";
import { redactor } from "../../src/secrets/index.ts";

const SECRET = 'sk-live/+a"b c&é$1';

test("known values are taken out as they are, in JSON, in URLs, in hex and in base64", () => {
  const { text } = redactor([SECRET]);
  for (const form of [
    SECRET,
    JSON.stringify({ key: SECRET }),
    `https://x/?k=${encodeURIComponent(SECRET)}&n=1`,
    new URLSearchParams({ k: SECRET }).toString(),
    Buffer.from(SECRET).toString("hex"),
  ])
    expect(text(form)).toContain("[redacted]");
  expect(text(`a ${SECRET} b`)).toBe("a [redacted] b");
  expect(text("nothing here")).toBe("nothing here");
});

test("in base64 it is found at any place among other bytes", () => {
  const { text } = redactor(["correct-horse-battery"]);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 9 }), fc.uint8Array({ maxLength: 9 }), (before, after) => {
      const bytes = Buffer.concat([before, Buffer.from("correct-horse-battery"), after]);
      for (const encoding of ["base64", "base64url"] as const) {
        const shown = text(bytes.toString(encoding));
        expect(shown).toContain("[redacted]");
        expect(Buffer.from(shown, "base64").includes("horse")).toBe(false);
      }
    }),
  );
});

test("JSON keeps its shape; keys are looked at too", () => {
  const { json } = redactor(["secret-value", "secret-value-longer"]);
  expect(
    json({ a: ["x secret-value-longer y", 1, null, true], "secret-value": { b: "secret-value" } }),
  ).toEqual({
    a: ["x [redacted] y", 1, null, true],
    "[redacted]": { b: "[redacted]" },
  });
});

test("short values are left alone, and none are no work", () => {
  expect(redactor(["on", ""]).text("turn it on")).toBe("turn it on");
  const value = { a: 1 };
  expect(redactor([]).json(value)).toBe(value);
});
