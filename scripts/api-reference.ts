import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Endpoint, type EndpointName, endpoints, type Shape, shapes } from "@trackside/server/contract";
import * as z from "zod";

const NEEDS: Readonly<Record<Endpoint["needs"], string>> = {
  nobody: "nobody has to be signed in",
  read: "any role",
  operate: "operator, admin",
  decide: "approver, admin",
  admin: "admin",
};

const ANSWERS: Readonly<Record<string, string>> = {
  events: "a stream of events (`text/event-stream`)",
  text: "plain text",
  bytes: "bytes",
  lines: "lines of JSON",
};

/** The reference of the HTTP API as a document, made from what the router and the client are made from. */
export function apiReference(): string {
  const names = Object.keys(endpoints) as EndpointName[]; // the keys of that very object
  const tags = [...new Set(names.map((name) => endpoints[name].tag))];
  const sections = tags.map((tag) => {
    const own = names.filter((name) => endpoints[name].tag === tag);
    return `## ${tag}\n\n${own.map(entry).join("\n")}`;
  });
  return `${INTRODUCTION}\n${sections.join("\n")}`;
}

const INTRODUCTION = `# HTTP API reference

Made from \`packages/server/src/contract\` by \`node --conditions=@trackside/source scripts/api-reference.ts\`; a test compares. The same
contract is an OpenAPI document at \`/api/v1/openapi.json\` and a typed client in \`@trackside/server/client\`, where each endpoint is
a method of the name below. The [guide](guides/http-api.md) says how to sign in, page, stream and retry.

All paths are below \`/api/v1\`. What goes in and out is JSON unless it says otherwise; what may be left out has a question mark.
`;

function entry(name: EndpointName): string {
  const { method, path, needs, summary, ...rest }: Endpoint = endpoints[name];
  const { params: _, query, body, answer }: Shape = shapes[name];
  const lines = [
    `### \`${method} ${path}\``,
    "",
    `${summary}. \`client.${name}\`; ${NEEDS[needs]}.`,
    "",
    ...part("Query", query, "input"),
    ...part("Body", body, "input"),
    ...(rest.answers === undefined
      ? part(rest.status === undefined ? "Answer" : `Answer, ${rest.status}`, answer, "output")
      : [`- Answer: ${ANSWERS[rest.answers]}`]),
    ...(rest.status === 204 ? ["- Answer: 204, nothing"] : []),
  ];
  return `${lines.join("\n").trimEnd()}\n`;
}

function part(title: string, schema: z.ZodType | undefined, io: "input" | "output"): string[] {
  if (schema === undefined) return [];
  const json = z.toJSONSchema(schema, { io, unrepresentable: "any", reused: "inline" }) as Json;
  return [`- ${title}: ${typeOf(json, json)}`];
}

interface Json {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
  readonly items?: Json;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Json[];
  readonly oneOf?: readonly Json[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Json>>;
}

const DEEP = 2;

/** A schema in one line, as a type would be written; what is deep is named only. */
function typeOf(schema: Json, root: Json, depth = 0): string {
  const { properties, items, anyOf, oneOf } = schema;
  if (schema.$ref !== undefined) return "`object`";
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum !== undefined) return schema.enum.map((one) => code(JSON.stringify(one))).join(" or ");
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) {
    if (choices.length > 6) return "`object`, one of several kinds";
    return [...new Set(choices.map((one) => typeOf(one, root, depth)))].join(" or ");
  }
  if (items !== undefined) return `list of ${typeOf(items, root, depth)}`;
  if (properties === undefined) return code([schema.type ?? "any JSON"].flat().join(" or "));
  if (depth >= DEEP) return "`object`";
  const fields = Object.entries(properties).map(([key, value]) => {
    const mark = schema.required?.includes(key) === true ? "" : "?";
    return `\`${key}${mark}\` ${typeOf(value, root, depth + 1)}`;
  });
  return `{ ${fields.join(", ")} }`;
}

function code(text: string): string {
  return `\`${text}\``;
}

if (import.meta.main) writeFileSync(join(import.meta.dirname, "../docs/api.md"), apiReference());
