import { expect, test } from "vitest";
import { contentDigest, GENESIS, hashOf, readEntry } from "../../src/audit/entry.ts";
import { cipher, keyring } from "../../src/secrets/index.ts";
import { verifyWebhook } from "../../src/webhooks/index.ts";

// Stored by the first version. What is here never changes: it must open, verify and load for ever.
const key = Uint8Array.from({ length: 32 }, (_, i) => i);

test("what was encrypted by the first version still opens", () => {
  const sealed = "enc:v1:k1:OKbT39FSObRULBNYrIHUszA0QBFettE3NQEn05Nl98BfCTWf990wP2Epffyp";
  const box = cipher(keyring({ current: "k1", keys: { k1: key } }));
  expect(box.openText(sealed, ["reasoning", "run_1", "m1"])).toBe("a thought, signed");
});

test("X12 a row that was audited by the first version still verifies", () => {
  const row = {
    tenant: "a",
    n: 1,
    at: 5,
    action: "approval.decided",
    body: '{"v":1,"by":"ann","about":{"approval":"ap_1","n":1,"ok":true,"none":null},"before":"hmac-sha256:102278f096aa85bd720689b4cdaf8243593f03b4d54b6e9844bf3a5e70bba06c","after":"hmac-sha256:a6fa650d068b6e4b4c9b8488ecedb92501cc2bd6ce140b294dc7b1f172de0820"}',
    previous: GENESIS,
    hash: "9969030726825f92a96a56e5637c4c55b8b796e31a53198e1a31e9c1d57f8bae",
  };
  expect(hashOf(row)).toBe(row.hash);
  expect(readEntry(row)).toMatchObject({ by: "ann", about: { approval: "ap_1", none: null } });
  expect(contentDigest({ a: [1, "é"], b: 1 }, key)).toBe(readEntry(row).before);
});

test("a receiver written against the first version still knows our signatures", () => {
  const header = "t=1700000000,v1=995dcd389887a46f0b1d9b6e7fb7cff42d04fe3dde956e7608796cbc6e8f1201";
  const now = () => 1_700_000_000_000;
  expect(verifyWebhook('{"id":"ap_1.requested"}', header, "webhook-secret-of-a-receiver", { now })).toBe(
    true,
  );
});
