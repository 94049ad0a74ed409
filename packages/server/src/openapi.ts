import * as z from "zod";
import { problem } from "./contract/common.ts";
import {
  type Endpoint,
  type EndpointName,
  endpoints,
  type Needs,
  type Shape,
  shapes,
} from "./contract/index.ts";
import { json } from "./contract/input.ts";
import * as records from "./contract/records.ts";
import { VERSION } from "./version.ts";

type Json = Record<string, unknown>;

const ROLES: Readonly<Record<Needs, string>> = {
  nobody: "Anybody.",
  read: "Every role.",
  operate: "Operators and admins.",
  decide: "Approvers and admins.",
  admin: "Admins.",
};

const TYPES = {
  events: "text/event-stream",
  text: "text/plain",
  bytes: "application/octet-stream",
  lines: "application/jsonl",
};

let made: Json | undefined;

/** The API as an OpenAPI 3.1 document, made from the contract: once, since it never changes. */
export function openApi(): Json {
  made ??= makeDocument();
  return made;
}

function makeDocument(): Json {
  const names = Object.keys(endpoints) as EndpointName[];
  const schemas = { ...schemasOf("input", names), ...schemasOf("output", names) };
  const paths: Record<string, Json> = {};
  for (const name of names) {
    const { path, method } = endpoints[name];
    paths[`/api/v1${path}`] = { ...paths[`/api/v1${path}`], [method.toLowerCase()]: operationOf(name) };
  }
  const tags = [...new Set(names.map((name) => endpoints[name].tag))].map((name) => ({ name }));
  return {
    openapi: "3.1.1",
    info: {
      title: "Trackside",
      version: VERSION,
      description:
        "Agents, runs, approvals and everything else the control room does. Errors are problem documents (RFC 9457) with a stable `code`. Every write takes an `Idempotency-Key`: the same key and request again get the first answer. Clients of the AI SDK, OpenAI, AG-UI and MCP find what they speak at `/v1` and `/mcp`.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    tags,
    security: [{ token: [] }, { session: [] }],
    paths,
    components: {
      schemas,
      responses: {
        Problem: {
          description: "What went wrong, and what to do.",
          content: { "application/problem+json": { schema: ref("Problem") } },
        },
        TooMany: {
          description: "Too many requests.",
          headers: { "Retry-After": { description: "Seconds to wait.", schema: { type: "integer" } } },
          content: { "application/problem+json": { schema: ref("Problem") } },
        },
      },
      parameters: {
        IdempotencyKey: {
          name: "Idempotency-Key",
          in: "header",
          description: "The same key and request again get the first answer, for a day.",
          schema: { type: "string", pattern: "^[!-~]{1,255}$" },
        },
        LastEventId: {
          name: "Last-Event-ID",
          in: "header",
          description: "The last id that was read: what follows it is sent.",
          schema: { type: "string" },
        },
      },
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "An API token, `tsk_…`." },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "__Host-trackside",
          description: "The control room's own.",
        },
      },
    },
  };
}

function operationOf(name: EndpointName): Json {
  const endpoint: Endpoint = endpoints[name];
  const shape: Shape = shapes[name];
  const writes = endpoint.method !== "GET";
  const parameters = [
    ...parametersOf("path", shape.params),
    ...parametersOf("query", shape.query),
    ...(writes && endpoint.needs !== "nobody" ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : []),
    ...(endpoint.answers === "events" ? [{ $ref: "#/components/parameters/LastEventId" }] : []),
  ];
  return {
    operationId: name,
    summary: endpoint.summary,
    description: `For: ${ROLES[endpoint.needs]}`,
    tags: [endpoint.tag],
    ...(endpoint.needs === "nobody" ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(shape.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { "application/json": { schema: ref(nameOf(name, "Body")) } },
          },
        }),
    responses: responsesOf(name, endpoint, shape),
  };
}

function responsesOf(name: EndpointName, endpoint: Endpoint, shape: Shape): Json {
  const { answers, needs, method } = endpoint;
  const empty = answers === undefined && shape.answer === undefined;
  const status = endpoint.status ?? (empty ? 204 : 200);
  const type = answers === undefined ? "application/json" : TYPES[answers];
  const schema = answers === undefined ? ref(nameOf(name, "Answer")) : { type: "string" };
  const refused = { $ref: "#/components/responses/Problem" };
  const codes = [
    400,
    ...(needs === "nobody" ? [] : [401, 403]),
    ...(shape.params === undefined ? [] : [404]),
    ...(method === "GET" ? [] : [409, 413, 415, 422]),
    500,
    503,
  ];
  return {
    [status]: { description: "Done.", ...(empty ? {} : { content: { [type]: { schema } } }) },
    ...Object.fromEntries(codes.map((code) => [code, refused])),
    429: { $ref: "#/components/responses/TooMany" },
  };
}

function parametersOf(place: "path" | "query", shape: z.ZodType | undefined): Json[] {
  if (shape === undefined) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(shape, { io: "input", override: plain });
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: place,
    required: place === "path" || required.includes(name),
    schema,
  }));
}

/** Everything that goes in, or comes out, by name; what they share is there once. */
function schemasOf(io: "input" | "output", names: readonly EndpointName[]): Json {
  const named = z.registry<{ id: string }>();
  named.add(json, { id: io === "input" ? "Json" : "AnyJson" });
  if (io === "output") {
    named.add(problem, { id: "Problem" });
    for (const [name, record] of Object.entries(records))
      if (record instanceof z.ZodType) named.add(record, { id: capital(name) });
  }
  const part = io === "input" ? "body" : "answer";
  const aliases: Json = {};
  for (const name of names) {
    const shape: Shape = shapes[name];
    const given = shape[part];
    if (given === undefined) continue;
    const id = nameOf(name, io === "input" ? "Body" : "Answer");
    const known = named.get(given);
    if (known === undefined) named.add(given, { id });
    else aliases[id] = ref(known.id);
  }
  const { schemas } = z.toJSONSchema(named, {
    io,
    uri: (id) => `#/components/schemas/${id}`,
    override: plain,
    unrepresentable: "any", // JSON values, which core checks by hand
  });
  const all = Object.entries(schemas).map(([id, { $schema: _, $id: __, ...schema }]) => [id, schema]);
  return { ...Object.fromEntries(all), ...aliases };
}

/** What zod says of every number and every object, and nobody wants to read. Answers may have more in them one day. */
function plain({
  jsonSchema: schema,
  zodSchema,
}: {
  jsonSchema: z.core.JSONSchema.BaseSchema;
  zodSchema: z.core.$ZodType;
}): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  const isStrict = zodSchema instanceof z.ZodObject && zodSchema.def.catchall instanceof z.ZodNever;
  if (schema.additionalProperties === false && !isStrict) delete schema.additionalProperties;
}

function ref(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

function nameOf(endpoint: string, what: string): string {
  return `${capital(endpoint)}${what}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
