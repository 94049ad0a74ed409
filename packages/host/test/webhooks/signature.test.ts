import fc from "fast-check";
import { expect, test } from "vitest";
import { verifyWebhook } from "../../src/webhooks/index.ts";
import { signWebhook } from "../../src/webhooks/signature.ts";

const SECRET = "a secret of some length";
const at = 1_700_000_000;
const now = () => at * 1000;

test("a receiver knows a webhook by its signature, as text and as bytes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (body) => {
      const header = signWebhook(body, [SECRET], at);
      expect(verifyWebhook(body, header, SECRET, { now })).toBe(true);
      expect(verifyWebhook(Buffer.from(body), header, SECRET, { now })).toBe(true);
      expect(verifyWebhook(`${body} `, header, SECRET, { now })).toBe(false);
    }),
  );
});

test("any other header, secret or time is refused", () => {
  const header = signWebhook("{}", [SECRET], at);
  const [time = "", mac = ""] = header.split(",");
  for (const wrong of [
    null,
    undefined,
    "",
    "t=,v1=",
    time,
    mac,
    `${time},v1=00`,
    `t=${at + 1},${mac}`,
    `${time},${time},${mac}`,
    `${time},${mac}0`,
    `${time},v2=${mac.slice(3)}`,
  ])
    expect(verifyWebhook("{}", wrong, SECRET, { now })).toBe(false);
  expect(verifyWebhook("{}", header, "another secret of length", { now })).toBe(false);
  expect(verifyWebhook("{}", signWebhook("{}", [""], at), "", { now })).toBe(false);
  const later = (seconds: number) => ({ now: () => (at + seconds) * 1000 });
  expect(verifyWebhook("{}", header, SECRET, later(300))).toBe(true);
  expect(verifyWebhook("{}", header, SECRET, later(301))).toBe(false);
  expect(verifyWebhook("{}", header, SECRET, later(-301))).toBe(false);
  expect(verifyWebhook("{}", header, SECRET, { ...later(20), toleranceSeconds: 10 })).toBe(false);
});

test("while a secret is replaced, both are good", () => {
  const header = signWebhook("{}", ["the new secret here", SECRET], at);
  expect(verifyWebhook("{}", header, SECRET, { now })).toBe(true);
  expect(verifyWebhook("{}", header, "the new secret here", { now })).toBe(true);
});
