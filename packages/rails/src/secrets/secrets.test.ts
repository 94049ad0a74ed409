import { Agent, defineTool, RailAbortError } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { CARRIERS, fill, NEAR_MISSES, type Random, REALISTIC, seeded } from "../../test/secret-samples.ts";
import { sameHoweverCut, streamed, textsOf } from "../../test/streams.ts";
import { builtInHooks, builtInRails, type SecretsOptions, secrets, secretsStream } from "../index.ts";
import { SERVICES } from "./rules.ts";

const clean = (text: string, options: SecretsOptions = {}) => streamed(secretsStream(options), [text]);

function carried(templates: readonly (readonly [string, string])[], random: Random) {
  return templates.flatMap(([what, template]) =>
    CARRIERS.map((carrier) => ({ what, text: carrier.replace("{}", () => fill(template, random)) })),
  );
}

test("more than a hundred services are known", () => {
  expect(SERVICES.length).toBeGreaterThan(100);
});

test("of realistic keys and tokens of more than 60 services at least 95 in 100 are caught", () => {
  expect(REALISTIC.length).toBeGreaterThan(60);
  for (const seed of [1, 2, 3]) {
    const all = carried(REALISTIC, seeded(seed));
    const missed = all.filter(({ text }) => !clean(text).includes("[SECRET:"));
    expect(missed.length / all.length, JSON.stringify(missed.slice(0, 5))).toBeLessThan(0.01);
  }
});

test("each service is caught by itself, without anything around it", () => {
  const random = seeded(4);
  for (const [service, template] of REALISTIC) {
    const caught = Array.from({ length: 20 }, () => clean(fill(template, random))).filter((text) =>
      text.includes("[SECRET:"),
    );
    expect(caught.length, service).toBeGreaterThanOrEqual(19);
  }
});

test("of what only looks like one at most 5 in 100 are taken for one", () => {
  for (const seed of [1, 2, 3]) {
    const all = carried(NEAR_MISSES, seeded(seed));
    const wrong = all.filter(({ text }) => clean(text) !== text);
    expect(wrong.length / all.length, JSON.stringify(wrong.slice(0, 5))).toBeLessThan(0.03);
  }
});

describe("what is left is the text around it", () => {
  const token = "ghp_Zx8Kq2Lm9Wb4Rt6Yp1Ns3Vd5Hg7Jf0Cc8Ta2";
  const key = "Zx8Kq2Lm9Wb4Rt6Yp1Ns3Vd5Hg7Jf0Cc8Ta2Eo4Iu6Xz9Bn1Mk3Gq5Dl7Sr2Ph4V";
  test.each([
    [
      "a token in a sentence",
      `use ${token}, then "${token}".`,
      'use [SECRET:github], then "[SECRET:github]".',
    ],
    [
      "a password in an address",
      "postgres://app:S3cretPw9@db/x",
      "postgres://app:[SECRET:url-password]@db/x",
    ],
    [
      "a value by its name",
      `{"api_key": "${key.slice(0, 32)}", "n": 1}`,
      '{"api_key": "[SECRET:key]", "n": 1}',
    ],
    ["a password by its name", "password=hq7vN2wz; user=me", "password=[SECRET:password]; user=me"],
    [
      "a private key",
      `a\n-----BEGIN PRIVATE KEY-----\n${key}\n${key}\n-----END PRIVATE KEY-----\nb`,
      "a\n[SECRET:private-key]\nb",
    ],
    [
      "a private key that is cut off",
      `-----BEGIN RSA PRIVATE KEY-----\n${key}\n${key}\n`,
      "[SECRET:private-key]",
    ],
    [
      "a web token",
      "Cookie: t=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dBjftJeZ4CVP; x",
      "Cookie: t=[SECRET:jwt]; x",
    ],
  ])("%s", (_, text, left) => {
    expect(clean(text)).toBe(left);
  });
});

test("H8 streamed text comes out the same however it is cut", () => {
  const random = seeded(9);
  const pieces = [
    ...REALISTIC.map(([, template]) => fill(template, random)),
    ...NEAR_MISSES.map(([, template]) => fill(template, random)),
    "sk-",
    "eyJ",
    "-----BEGIN ",
    'api_key = "',
    "password: ",
    "Bearer ",
    "://a:b@c",
    "a".repeat(90),
  ];
  sameHoweverCut(secretsStream(), textsOf(pieces), 2000);
});

test("a stream holds back what may still become a secret, and nothing else", () => {
  const stream = secretsStream().create("text");
  expect(stream.push("Use the key gh")).toBe("Use the key ");
  expect(stream.push("p_Zx8Kq2Lm9Wb4Rt6Yp1Ns3Vd5Hg7")).toBe("");
  expect(stream.push("Jf0Cc8Ta2 now.")).toBe("[SECRET:github] ");
  expect(stream.push(" A ghost ")).toBe("now. A ghost ");
  expect(stream.flush()).toBe("");
});

describe("in a run", () => {
  const token = "ghp_Zx8Kq2Lm9Wb4Rt6Yp1Ns3Vd5Hg7Jf0Cc8Ta2";
  const env = defineTool({
    name: "env",
    execute: () => ({ GITHUB_TOKEN: token, PATH: "/bin", list: [`x ${token}`] }),
  });
  const connect = defineTool({
    name: "connect",
    execute: () => {
      throw new Error("cannot reach postgres://app:S3cretPw9@db/x");
    },
  });

  test("what tools return and say when they fail never reaches the model", async () => {
    const model = scriptedModel([{ calls: [{ tool: "env" }, { tool: "connect" }] }, `It is ${token}.`]);
    const agent = new Agent({ name: "a", model, tools: [env, connect], rails: [secrets()] });
    const { output, messages } = await agent.run("go");
    expect(output).toBe("It is [SECRET:github].");
    expect(JSON.stringify([messages, model.requests])).not.toMatch(/ghp_|S3cretPw9/);
    expect(JSON.stringify(messages)).toContain(
      '{"GITHUB_TOKEN":"[SECRET:github]","PATH":"/bin","list":["x [SECRET:github]"]}',
    );
  });

  test("block ends the run; what is allowed stays", async () => {
    const run = (options: SecretsOptions) =>
      new Agent({ name: "a", model: scriptedModel(["hi"]), rails: [secrets(options)] }).run(
        `my key is ${token}`,
      );
    const failed = await run({ action: "block" }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(RailAbortError);
    expect(failed).toMatchObject({ railName: "secrets", reason: "found 1 github in the input" });
    expect((await run({ action: "block", allow: [token] })).output).toBe("hi");
  });
});

test("a serialized agent uses it by name", () => {
  const load = (options: object) =>
    Agent.fromJSON(
      {
        name: "a",
        model: "openai:gpt-4o",
        rails: [{ use: "secrets", options: { ...options } }],
        hooks: { stream: [{ use: "secrets", options: { ...options } }] },
      },
      { rails: builtInRails, hooks: builtInHooks },
    );
  expect(load({ action: "block" }).toJSON()).toMatchObject({ hooks: { stream: [{ use: "secrets" }] } });
  expect(() => load({ action: "mask" })).toThrow(/rails\[0\].*action/s);
});
