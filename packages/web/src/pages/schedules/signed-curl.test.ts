import { execFileSync, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { draftOf, fieldsOf, newDraft } from "./draft.ts";
import { signedCurl } from "./signed-curl.ts";

const hasOpenssl = spawnSync("sh", ["-c", "command -v openssl"]).status === 0;

describe("the example that signs", () => {
  test.skipIf(!hasOpenssl)("signs as the server checks it", () => {
    // The same lines, with what is sent said instead of sent.
    const script = signedCurl("http://127.0.0.1/api/v1/triggers/schedule_1", "whsec_test").replace(
      /^curl [\s\S]*$/m,
      'printf "%s %s" "$T" "$SIGNATURE"',
    );
    const [time = "", signature] = execFileSync("sh", ["-c", script]).toString().split(" ");
    const body = '{"ticket": 17}';
    expect(signature).toBe(createHmac("sha256", "whsec_test").update(`${time}.${body}`).digest("hex"));
  });
});

describe("a draft", () => {
  const schedule = { name: "news", kind: "agent", target: "clerk", text: "Hi" } as const;

  test("becomes what the API takes: a text for an agent, an object for a workflow, nothing for a plan", () => {
    const draft = { ...newDraft(), ...schedule, zone: "UTC" };
    expect(fieldsOf(draft)).toMatchObject({
      fields: { input: "Hi", trigger: { kind: "cron", pattern: "0 7 * * 1-5", time_zone: "UTC" } },
    });
    expect(fieldsOf({ ...draft, kind: "workflow", json: '{"n":1}' })).toMatchObject({
      fields: { input: { n: 1 } },
    });
    expect(fieldsOf({ ...draft, kind: "plan" })).toMatchObject({ fields: { input: null } });
    for (const json of ["[1]", "1", "null", "{", "text"])
      expect(fieldsOf({ ...draft, kind: "workflow", json })).toHaveProperty("problem");
  });

  test("of a schedule is that schedule again", () => {
    const made = fieldsOf({ ...newDraft(), ...schedule, missed: "all", overlap: "skip", enabled: false });
    if (!("fields" in made)) throw new Error(made.problem);
    const record = { ...made.fields, input: "Hi", missed: "all", overlap: "skip", enabled: false } as never;
    expect(fieldsOf(draftOf(record))).toEqual(made);
  });
});
