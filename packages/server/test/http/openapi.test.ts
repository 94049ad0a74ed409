import { beforeAll, expect, test } from "vitest";
import { endpoints } from "../../src/contract/index.ts";
import { openRoom } from "./support/room.ts";

type Node = Readonly<Record<string, unknown>>;
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name?: string; readonly in?: string; readonly $ref?: string }[];
  readonly requestBody?: { readonly content: Node };
  readonly responses: Readonly<Record<string, Node>>;
  readonly security?: readonly unknown[];
}
let document: {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Node>>>>;
};

beforeAll(async () => {
  const room = await openRoom();
  const answer = await room.send("/openapi.json");
  expect(answer.headers.get("content-type")).toContain("application/json");
  document = (await answer.json()) as typeof document; // looked at below
});

test("it is an OpenAPI 3.1 document with every endpoint in it, once", () => {
  expect(document.openapi).toMatch(/^3\.1\.\d$/);
  expect(document.info).toMatchObject({
    title: "Trackside",
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
  });
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => [operationId, method.toUpperCase(), path]),
  );
  const expected = Object.entries(endpoints).map(([name, { method, path }]) => [
    name,
    method,
    `/api/v1${path}`,
  ]);
  expect(operations.toSorted()).toEqual(expected.toSorted());
});

test("every reference leads somewhere, and no schema says it is another document", () => {
  const text = JSON.stringify(document);
  const refs = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref = ""]) => ref));
  expect(refs.size).toBeGreaterThan(50);
  for (const ref of refs) {
    expect(ref).toMatch(/^#\/components\//);
    let found: unknown = document;
    for (const key of ref.slice(2).split("/")) found = (found as Node | undefined)?.[key];
    expect(found, ref).toBeTypeOf("object");
  }
  expect(text).not.toMatch(/"\$(id|schema|defs)":/);
});

test("paths and parameters agree, and every operation says how it fails", () => {
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = (operation.parameters ?? []).filter((one) => one.in === "path").map((one) => one.name);
      expect(declared, operation.operationId).toEqual(inPath);
      expect(Object.keys(operation.responses).filter((code) => code.startsWith("2"))).toHaveLength(1);
      for (const code of ["400", "429", "500", "503"]) expect(operation.responses[code]).toBeDefined();
      const isOpen = operation.security?.length === 0;
      if (!isOpen) for (const code of ["401", "403"]) expect(operation.responses[code]).toBeDefined();
      const takesKey = (operation.parameters ?? []).some((one) => one.$ref?.endsWith("/IdempotencyKey"));
      expect(takesKey, operation.operationId).toBe(method !== "get" && !isOpen);
    }
  expect(document.components["securitySchemes"]).toMatchObject({
    token: { type: "http", scheme: "bearer" },
    session: { type: "apiKey", in: "cookie" },
  });
});
