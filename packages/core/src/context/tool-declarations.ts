/** A tool as far as its size goes. */
export interface SizedTool {
  readonly name: string;
  readonly description?: string | undefined;
  /** A JSON Schema. */
  readonly inputSchema: object;
}

type Fields = Readonly<Record<string, unknown>>;

/** Deeper than this a schema is written as `any`. */
const DEPTH = 16;

/** One tool's schema, and what it has referred to: a definition is written out once, then named. */
interface Scope {
  readonly root: object;
  readonly seen: Set<string>;
}

/** Tools the way OpenAI's models read them: declarations of functions in a namespace, with comments. */
export function declareTools(tools: readonly SizedTool[]): string {
  const declared = tools.map(({ name, description, inputSchema }) => {
    const fields = fieldsOf(inputSchema, { root: inputSchema, seen: new Set() }, 0);
    return `${comment(description)}type ${name} = (${fields === "" ? "" : `_: {\n${fields}\n}`}) => any;\n\n`;
  });
  return `# Tools\n\n## functions\n\nnamespace functions {\n\n${declared.join("")}} // namespace functions`;
}

function fieldsOf(schema: object, scope: Scope, depth: number): string {
  const { properties, required } = schema as Fields; // a JSON Schema is an object of JSON values
  if (!isObject(properties)) return "";
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.entries(properties)
    .map(([name, field]) => {
      const type = typeOf(field, scope, depth + 1);
      if (!isObject(field)) return `${name}: ${type},`;
      const fallback = field.default === undefined ? "" : ` // default: ${JSON.stringify(field.default)}`;
      return `${comment(field.description)}${name}${needed.has(name) ? "" : "?"}: ${type},${fallback}`;
    })
    .join("\n");
}

function typeOf(schema: unknown, scope: Scope, depth: number): string {
  if (!isObject(schema) || depth > DEPTH) return "any";
  if (typeof schema.$ref === "string") return referredTo(schema.$ref, scope, depth);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const choice = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choice)) return choice.map((one) => typeOf(one, scope, depth + 1)).join(" | ");
  if (Array.isArray(schema.type)) {
    // Each once: a type named over and over would have its fields written as often, at every level.
    const types = [...new Set<unknown>(schema.type)].filter((type) => typeof type === "string");
    return types.map((type) => typeOf({ ...schema, type }, scope, depth + 1)).join(" | ");
  }
  switch (schema.type) {
    case "integer":
      return "number";
    case "array":
      return `${typeOf(schema.items, scope, depth + 1)}[]`;
    case "object": {
      const fields = fieldsOf(schema, scope, depth);
      return fields === "" ? "object" : `{\n${fields}\n}`;
    }
    default:
      return typeof schema.type === "string" ? schema.type : "any";
  }
}

function referredTo(ref: string, scope: Scope, depth: number): string {
  if (scope.seen.has(ref)) return ref.slice(ref.lastIndexOf("/") + 1);
  scope.seen.add(ref);
  return typeOf(resolve(ref, scope.root), scope, depth + 1);
}

/** What `#/$defs/Name` refers to. */
function resolve(ref: string, root: object): unknown {
  let found: unknown = root;
  for (const key of ref.split("/").slice(1)) {
    if (!isObject(found) || !Object.hasOwn(found, key)) return undefined;
    found = found[key];
  }
  return found;
}

function comment(text: unknown): string {
  if (typeof text !== "string" || text === "") return "";
  return `${text
    .split("\n")
    .map((line) => `// ${line}`)
    .join("\n")}\n`;
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
