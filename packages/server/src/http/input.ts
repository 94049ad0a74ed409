import * as z from "zod";
import { type EndpointName, endpoints, type Problem, type Shape, shapes } from "../contract/index.ts";
import { parseJson, readBytes, requireJson } from "./body.ts";
import { issuesOf } from "./issues.ts";
import type { Limits } from "./limits.ts";
import { HttpProblem, notFound } from "./problem.ts";

/** What came in, read and checked; `bytes` as it came. */
export interface ReadInput {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly bytes: Uint8Array;
}

type Issues = NonNullable<Problem["issues"]>;

const NOTHING = z.strictObject({});
/** Where files come along. */
const LARGE: ReadonlySet<EndpointName> = new Set([
  "importConversation",
  "sendMessage",
  "startRun",
  "steerRun",
]);

/** Reads the parts of requests of one endpoint. Every problem of all parts is told at once (A3). */
export function inputReader(
  name: EndpointName,
  limits: Limits,
): (request: Request, params: Readonly<Record<string, string>>) => Promise<ReadInput> {
  const { method } = endpoints[name];
  const shape: Shape = shapes[name];
  const limit = LARGE.has(name) ? limits.largeBody : limits.body;
  const takesBody = method !== "GET";
  const query = strict(shape.query);
  const body = strict(shape.body);
  return async (request, params) => {
    if (Object.values(params).some((value) => /\p{Cc}/u.test(value)))
      throw notFound("There is no such thing.");
    const issues: Issues = [];
    const readParams = check(shape.params ?? z.unknown(), params, "path", issues);
    const readQuery = check(query, queryOf(request.url), "query", issues);
    const bytes = takesBody ? await readBytes(request, limit) : new Uint8Array();
    if (bytes.byteLength > 0) requireJson(request.headers.get("content-type") ?? "");
    const given = bytes.byteLength > 0 ? parseJson(bytes) : {};
    const readBody = takesBody ? check(body, given, "body", issues) : undefined;
    if (issues.length > 0) throw invalid(issues);
    return { params: readParams, query: readQuery, body: readBody, bytes };
  };
}

/** Unknown keys are problems, in queries too. */
function strict(shape: z.ZodType | undefined): z.ZodType {
  if (shape === undefined) return NOTHING;
  return shape instanceof z.ZodObject ? shape.strict() : shape;
}

function check(shape: z.ZodType, given: unknown, part: string, issues: Issues): unknown {
  const read = shape.safeParse(given);
  if (read.success) return read.data;
  issues.push(...issuesOf(read.error, given, part));
  return undefined;
}

function queryOf(url: string): Record<string, string | string[]> {
  const at = url.indexOf("?");
  const query: Record<string, string | string[]> = Object.create(null);
  if (at < 0) return { ...query };
  for (const [key, value] of new URLSearchParams(url.slice(at + 1))) {
    const known = query[key];
    if (known === undefined) query[key] = value;
    else if (Array.isArray(known)) known.push(value);
    else query[key] = [known, value];
  }
  return { ...query };
}

function invalid(issues: Issues): HttpProblem {
  const lines = issues.slice(0, 20).map(({ message }) => message);
  const count = `${issues.length} problem${issues.length === 1 ? "" : "s"}`;
  return new HttpProblem(400, "request_invalid", `The request has ${count}: ${lines.join("; ")}.`, {
    issues,
  });
}
