import { describe, expect, test } from "vitest";
import { Access, allows, mayGrant, type Need, ROLES } from "../../src/access/index.ts";
import { HashingBusy, PasswordHasher } from "../../src/access/password-hash.ts";
import { checkPassword } from "../../src/access/password-rules.ts";
import { isSecret, isTokenSecret, newSecret, newTokenSecret } from "../../src/access/secret.ts";
import { sqlite } from "../../src/store/index.ts";
import { testCipher } from "../secrets/support.ts";
import { CHEAP, PASSWORD } from "./support.ts";

describe("roles", () => {
  test("each may do what it is for", () => {
    const needs: Need[] = ["read", "operate", "decide", "admin"];
    const table = ROLES.map((role) => [role, needs.filter((need) => allows(role, need)).join(" ")]);
    expect(table).toEqual([
      ["viewer", "read"],
      ["operator", "read operate"],
      ["approver", "read decide"],
      ["admin", "read operate decide admin"],
    ]);
  });

  test("operators and approvers cannot give each other's role", () => {
    expect(mayGrant("operator", "approver") || mayGrant("approver", "operator")).toBe(false);
    expect(ROLES.every((role) => mayGrant("admin", role) && mayGrant(role, "viewer"))).toBe(true);
  });
});

test("how long things last is a time, or a mistake that is told", () => {
  const given = { store: sqlite(":memory:"), cipher: testCipher() };
  for (const wrong of [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])
    expect(() => new Access({ ...given, idleMs: wrong })).toThrow(
      /access\.idleMs: milliseconds above 0 expected/,
    );
});

describe("secrets", () => {
  test("all look alike and none comes twice", () => {
    const secrets = Array.from({ length: 500 }, newSecret);
    const tokens = Array.from({ length: 500 }, newTokenSecret);
    expect(secrets.every(isSecret) && tokens.every(isTokenSecret)).toBe(true);
    expect(new Set([...secrets, ...tokens]).size).toBe(1000);
  });

  test("a token with a character changed, swapped, added or left out is none", () => {
    for (let round = 0; round < 20; round++) {
      const token = newTokenSecret();
      for (let i = 0; i < token.length; i++) {
        const other = token[i] === "x" ? "y" : "x";
        expect(isTokenSecret(token.slice(0, i) + other + token.slice(i + 1))).toBe(false);
        expect(isTokenSecret(token.slice(0, i) + token.slice(i + 1))).toBe(false);
        expect(isTokenSecret(`${token.slice(0, i)}x${token.slice(i)}`)).toBe(false);
      }
    }
    for (const other of ["", "tsk_", `tsk_${"0".repeat(49)}\n`]) expect(isTokenSecret(other)).toBe(false);
  });
});

describe("passwords", () => {
  test.each([
    "short",
    "123456789",
    "1234567890",
    "01234567890123",
    "9876543210",
    "aaaaaaaaaaaaaaa",
    "abababababab",
    "Password123",
    "password!!!!",
    "PASSW0RD2026",
    "1q2w3e4r5t",
    "qwertyuiop",
    "Administrator1",
    "adminadmin",
    "Trackside!2026",
    "annie.oakley",
    "Annie2026!!",
    "OAKLEY123456",
    "x".repeat(1025),
    "é".repeat(600),
  ])("%j is refused, without repeating it", (password) => {
    expect(() => checkPassword(password, "annie.oakley")).toThrow(
      expect.objectContaining({ code: "password_refused" }),
    );
    try {
      checkPassword(password, "annie.oakley");
    } catch (error) {
      expect(String(error)).not.toContain(password);
    }
  });

  test.each([
    PASSWORD,
    "correct horse battery staple",
    "k3#Vw9!pQz",
    "ключ под ковриком",
    "x1y2".repeat(256),
  ])("%j is taken", (password) => checkPassword(password, "annie.oakley"));

  test("are hashed with a salt and at least 2^15 rounds, and the parameters are kept", async () => {
    const hasher = new PasswordHasher();
    const [one, two] = await Promise.all([hasher.hash(PASSWORD), hasher.hash(PASSWORD)]);
    expect(one).not.toBe(two);
    const [kind, N, r] = one.split(":");
    expect([kind, Number(N) >= 2 ** 15, Number(r) >= 8]).toEqual(["scrypt", true, true]);
    expect(await hasher.matches(PASSWORD, one)).toBe(true);
    expect(await hasher.matches(`${PASSWORD} `, one)).toBe(false);
    expect(await new PasswordHasher(CHEAP).matches(PASSWORD, one)).toBe(true);
    expect([hasher.isOutdated(one), new PasswordHasher(CHEAP).isOutdated(one)]).toEqual([false, true]);
  });

  test("nobody's password is never right, nor is a damaged hash", async () => {
    const hasher = new PasswordHasher(CHEAP);
    for (const stored of [null, "", "scrypt:16:1:1::", "plain", PASSWORD])
      expect(await hasher.matches(PASSWORD, stored)).toBe(false);
  });

  test("checking nobody's is as much work as checking somebody's", async () => {
    const hasher = new PasswordHasher(CHEAP);
    await hasher.matches(PASSWORD, null); // from now on there is something to compare with
    const busy = async (stored: string | null) => {
      const checks = Array.from({ length: 60 }, () => hasher.matches(PASSWORD, stored));
      return (await Promise.allSettled(checks)).filter(({ status }) => status === "rejected").length;
    };
    expect(await busy(null)).toBe(await busy(await hasher.hash(PASSWORD)));
    expect(await busy(null)).toBeGreaterThan(0);
  });

  test("few are checked at once, some wait, and the others are turned away", async () => {
    const hasher = new PasswordHasher(CHEAP);
    const outcomes = await Promise.allSettled(Array.from({ length: 80 }, () => hasher.hash(PASSWORD)));
    const turned = outcomes.filter((one) => one.status === "rejected" && one.reason instanceof HashingBusy);
    expect(turned).toHaveLength(80 - 52);
    await hasher.hash(PASSWORD);
  });
});
