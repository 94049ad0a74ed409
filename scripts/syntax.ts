import { parseSync } from "oxc-parser";

/** What the checks need of an ESTree node; the full types would only be cast away again. */
export interface Node {
  type: string;
  start: number;
  end: number;
  [key: string]: unknown;
}

export interface Import {
  /** `undefined` for a dynamic import whose specifier is computed. */
  specifier: string | undefined;
  /** Erased before the code runs. An inline `import { type X }` is not: type stripping leaves `import {}`. */
  typeOnly: boolean;
  lazy: boolean;
  start: number;
}

/** Parses a source file; syntax errors are thrown, because a check that skips a file would pass it. */
export function parse(file: string, text: string): Node {
  const { program, errors } = parseSync(file, text);
  const error = errors[0];
  if (error) throw new SyntaxError(`${file}:${lineAt(text, error.labels[0]?.start ?? 0)} ${error.message}`);
  // ESTree nodes are plain objects with a `type`; the parser's own union has no index signature.
  return program as unknown as Node;
}

export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

/** Visits every node in source order; a visitor that returns false keeps the walk out of that node. */
export function walk(node: Node, visit: (node: Node, parent: Node | undefined) => unknown): void {
  const step = (current: Node, parent: Node | undefined) => {
    if (visit(current, parent) === false) return;
    for (const child of childrenOf(current)) step(child, current);
  };
  step(node, undefined);
}

function* childrenOf(node: Node): Generator<Node> {
  for (const value of Object.values(node)) {
    for (const item of Array.isArray(value) ? value : [value]) if (isNode(item)) yield item;
  }
}

export function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string";
}

/** The value of a string literal or of a template without expressions. */
export function stringOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === "Literal" && typeof node.value === "string") return node.value;
  if (node.type !== "TemplateLiteral") return undefined;
  const parts = (node.quasis as { value: { cooked: string } }[]).map((quasi) => quasi.value.cooked);
  return parts.length === 1 ? parts[0] : undefined;
}

export function importsOf(program: Node): Import[] {
  const found: Import[] = [];
  const add = (node: Node, typeOnly: boolean, lazy: boolean) =>
    found.push({ specifier: stringOf(node.source), typeOnly, lazy, start: node.start });
  walk(program, (node) => {
    if (node.type === "ImportDeclaration") add(node, node.importKind === "type", false);
    else if (node.type === "ExportAllDeclaration") add(node, node.exportKind === "type", false);
    else if (node.type === "ExportNamedDeclaration" && node.source)
      add(node, node.exportKind === "type", false);
    else if (node.type === "ImportExpression") add(node, false, true);
    else if (node.type === "TSImportType") add(node, true, false);
  });
  return found;
}
