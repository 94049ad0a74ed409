import { describe, expect, test } from "vitest";
import { checkBoundaries } from "./check-boundaries.ts";
import { fixture } from "./fixture.ts";

const source = (path: string) => ({ "@trackside/source": path });
const manifest = (name: string, exports: Record<string, unknown> = { ".": source("./src/index.ts") }) =>
  JSON.stringify({ name, exports });

const healthy: Record<string, string> = {
  "packages/core/package.json": manifest("trackside", {
    ".": source("./src/index.ts"),
    "./turn": source("./src/turn/run-turn.ts"),
    "./schema": source("./src/schema/agent.ts"),
  }),
  "packages/core/src/index.ts": `export * from "./agent.ts"; export * from "./local/engine.ts";`,
  "packages/core/src/agent.ts": `import { engine } from "./local/engine.ts"; export const run = () => engine(new Date());`,
  "packages/core/src/schema/agent.ts": `import { z } from "zod"; export const agent = z.object({}); export type Agent = {};`,
  "packages/core/src/turn/run-turn.ts": `import type { Agent } from "../schema/agent.ts"; import { pick } from "../hooks/pick.ts"; export const runTurn = (a: Agent) => pick(a);`,
  "packages/core/src/hooks/pick.ts": `export const pick = <T>(x: T, signal?: AbortSignal): T => { void signal; return x; };`,
  "packages/core/src/context/render.ts": `export const render = () => Math.max(1, 2);`,
  "packages/core/src/local/engine.ts": `import { readFileSync } from "node:fs"; import type { LanguageModelV4 } from "@ai-sdk/provider"; export const engine = async (d: Date) => import("@ai-sdk/openai");`,
  "packages/host/package.json": manifest("@trackside/host"),
  "packages/host/src/index.ts": `import { run } from "trackside"; export const host = run;`,
  "packages/cli/package.json": manifest("@trackside/cli", {}),
  "packages/cli/src/bin.ts": `import { host } from "@trackside/host"; host(); void import("@trackside/temporal/worker");`,
  "packages/temporal/package.json": manifest("@trackside/temporal", {
    "./worker": source("./src/worker/index.ts"),
    "./client": source("./src/client/index.ts"),
  }),
  "packages/temporal/src/workflow/index.ts": `import { proxyActivities } from "@temporalio/workflow"; import { runTurn } from "trackside/turn"; export const flow = [runTurn, proxyActivities];`,
  "packages/temporal/src/worker/index.ts": `import { host } from "@trackside/host"; export const worker = host;`,
  "packages/server/package.json": manifest("@trackside/server", {
    "./client": source("./src/client/index.ts"),
    "./contract": source("./src/contract/index.ts"),
  }),
  "packages/server/src/client/index.ts": `import { names } from "../contract/names.ts"; import type { Shape } from "../contract/index.ts"; export const client = (s: Shape) => [names, s];`,
  "packages/server/src/contract/names.ts": `export const names = ["one"];`,
  "packages/server/src/contract/index.ts": `import { z } from "zod"; export const shape = z.any(); export type Shape = {};`,
  "packages/server/src/http/app.ts": `import { host } from "@trackside/host"; import { shape } from "../contract/index.ts"; export const app = [host, shape];`,
  "packages/web/package.json": manifest("@trackside/web", {}),
  "packages/web/src/main.tsx": `import { client } from "@trackside/server/client"; import type { Shape } from "@trackside/server/contract"; export const main = <p>{String(client as (s: Shape) => unknown)}</p>;`,
  "packages/temporal/src/client/index.ts": `import { host } from "@trackside/host"; export const client = host;`,
};

/** The problems of the healthy workspace with one file added or replaced. */
const problemsWith = (files: Record<string, string>) => checkBoundaries(fixture({ ...healthy, ...files }));

const pure = "packages/core/src/rails/x.ts";

test("a workspace that keeps to the table has no problems", () => {
  expect(problemsWith({})).toEqual([]);
});

describe("forbidden imports are found", () => {
  test.each([
    [
      "node: in a pure room",
      pure,
      `import fs from "node:fs";`,
      `${pure}:1 imports "node:fs"; core/rails may import`,
    ],
    ["a Node module without its prefix", pure, `import fs from "fs";`, `imports "fs"`],
    ["types of a Node module", pure, `export type S = import("node:fs").Stats;`, `imports "node:fs"`],
    ["an unknown package", pure, `\n\nimport "lodash";`, `${pure}:3 imports "lodash"`],
    [
      "local/ from a pure room",
      pure,
      `import { engine } from "../local/engine.ts";`,
      "of core/local; core/rails may import core/pure",
    ],
    ["local/ by type", pure, `import type { engine } from "../local/engine.ts";`, "of core/local"],
    ["local/ by import()", pure, `export const e = () => import("../local/engine.ts");`, "of core/local"],
    ["local/ by export from", pure, `export * from "../local/engine.ts";`, "of core/local"],
    ["a computed path in a pure room", pure, `export const e = (p: string) => import(p);`, "computed path"],
    ["the top of core from a pure room", pure, `import { run } from "trackside";`, "of core/top"],
    ["a file that is not there", pure, `import "./gone.ts";`, "which does not exist"],
    ["a path that is not exported", "packages/host/src/a.ts", `import "trackside/local";`, "does not export"],
    [
      "hooks in context",
      "packages/core/src/context/c.ts",
      `import "../hooks/pick.ts";`,
      "never import each other",
    ],
    [
      "context in hooks",
      "packages/core/src/hooks/h.ts",
      `import "../context/render.ts";`,
      "never import each other",
    ],
    [
      "a value of schema in turn",
      "packages/core/src/turn/t.ts",
      `import { agent } from "../schema/agent.ts";`,
      "may only `import type`",
    ],
    [
      "an inline type of schema in turn, which still loads it",
      "packages/core/src/turn/t.ts",
      `import { type Agent } from "../schema/agent.ts";`,
      "may only `import type`",
    ],
    [
      "an eager provider in local",
      "packages/core/src/local/p.ts",
      `import { openai } from "@ai-sdk/openai";`,
      "other packages by import()",
    ],
    [
      "agent.ts in local",
      "packages/core/src/local/p.ts",
      `import { run } from "../agent.ts";`,
      "of core/top",
    ],
    [
      "another package by path",
      "packages/host/src/a.ts",
      `import "../../core/src/index.ts";`,
      "by its package name",
    ],
    ["host from core", "packages/core/src/local/p.ts", `import { host } from "@trackside/host";`, "of host"],
    ["host from a workflow", "packages/temporal/src/workflow/w.ts", `import "@trackside/host";`, "of host"],
    [
      "core's top from a workflow",
      "packages/temporal/src/workflow/w.ts",
      `import "trackside";`,
      "of core/top",
    ],
    ["zod in a workflow", "packages/temporal/src/workflow/w.ts", `import "zod";`, `imports "zod"`],
    [
      "code of the contract in the web",
      "packages/web/src/w.ts",
      `import { shape } from "@trackside/server/contract";`,
      "web may only `import type` from there",
    ],
    ["a package in the client", "packages/server/src/client/c.ts", `import "hono";`, `imports "hono"`],
    [
      "the server in its client",
      "packages/server/src/client/c.ts",
      `import { app } from "../http/app.ts";`,
      "of server/http; server/client may import server/contract",
    ],
    [
      "the worker, eagerly, in the cli",
      "packages/cli/src/w.ts",
      `import "@trackside/temporal/worker";`,
      "only load it by `import()`",
    ],
    ["a package nobody listed", "packages/extra/src/x.ts", `export {};`, "add it there"],
    ["a file that does not parse", pure, `import {`, `${pure}:1`],
  ])("%s", (_what, path, text, message) => {
    const problems = problemsWith({ [path]: text });
    expect(problems.join("\n")).toContain(message);
    expect(problems).toHaveLength(1);
  });
});

describe("a pure room does not touch the world", () => {
  test.each([
    "Date.now()",
    "new Date()",
    "x instanceof Date",
    "Math.random()",
    `Math["random"]()`,
    "const { random } = Math",
    "setTimeout(f, 1)",
    "setInterval(f, 1)",
    "setImmediate(f)",
    "queueMicrotask(f)",
    "fetch(u)",
    "crypto.randomUUID()",
    "structuredClone(x)",
    "new AbortController()",
    "AbortSignal.timeout(1)",
    "performance.now()",
    "process.env",
    "Buffer.from(x)",
    "console.log(x)",
    "globalThis.Date",
    "f({ fetch })",
    "x[Date.now()]",
    "(x as typeof y) ?? fetch",
    "const clock: () => number = Date.now",
  ])("%s", (code) => {
    const problems = problemsWith({
      [pure]: `declare const f: any, x: any, y: any, u: any;\n${code};\nexport {};`,
    });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^packages\/core\/src\/rails\/x\.ts:2 uses `.+; core\/rails is pure$/);
  });

  test("names in comments, strings, types and properties are harmless", () => {
    const text = `
      // Date.now(), fetch("x"), import fs from "node:fs"
      /* setTimeout */
      export const said = "process.exit() import 'node:fs'" + \`console.log\`;
      export type Signal = AbortSignal | Date;
      export interface World { fetch(url: string): Date; process: Buffer }
      export class Rail implements Pick<World, "fetch"> { fetch(_url: string, signal?: AbortSignal) { return signal as unknown as Date; } }
      export const read = (world: World) => [world.fetch("x"), world.process, { console: 1 }, Math.min(1, 2)];
    `;
    expect(problemsWith({ [pure]: text })).toEqual([]);
  });

  test("a file beside agent.ts is pure, agent.ts, local/, testing/ and tests are not", () => {
    const text = `export const t = Date.now();`;
    const paths = ["agent.ts", "local/a.ts", "testing/a.ts", "rails/a.test.ts", "ids.ts"];
    const files = Object.fromEntries(paths.map((path) => [`packages/core/src/${path}`, text]));
    expect(problemsWith({ ...files, "packages/core/src/index.ts": "" })).toEqual([
      "packages/core/src/ids.ts:1 uses `Date`; core/root is pure",
    ]);
  });
});

describe("the loop never pulls in zod", () => {
  test("by way of another room", () => {
    const problems = problemsWith({
      "packages/core/src/hooks/pick.ts": `export { pick } from "../tools/pick.ts";`,
      "packages/core/src/tools/pick.ts": `import { z } from "zod"; export const pick = z.any();`,
    });
    expect(problems).toEqual([
      "packages/core/src/tools/pick.ts:1 brings zod into packages/core/src/turn/run-turn.ts (packages/core/src/turn/run-turn.ts → packages/core/src/hooks/pick.ts → packages/core/src/tools/pick.ts → zod); the loop runs inside workflow sandboxes and does not parse",
    ]);
  });

  test("types on that way are harmless", () => {
    const files = {
      "packages/core/src/hooks/pick.ts": `export type { agent as pick } from "../schema/agent.ts";`,
    };
    expect(problemsWith(files)).toEqual([]);
  });

  test("and a missing loop is noticed", () => {
    const { "packages/core/src/turn/run-turn.ts": _, ...rest } = healthy;
    const files = { ...rest, "packages/temporal/src/workflow/index.ts": "" };
    expect(checkBoundaries(fixture(files)).join()).toContain("run-turn.ts:1 is missing");
  });
});
