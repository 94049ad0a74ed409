import { forbiddenGlobals } from "./rooms.ts";
import { type Node, walk } from "./syntax.ts";

/** TypeScript nodes that hold running code; all others are types and are erased. */
const runningTsNodes = new Set([
  "TSAsExpression",
  "TSInstantiationExpression",
  "TSNonNullExpression",
  "TSSatisfiesExpression",
  "TSTypeAssertion",
]);

/**
 * Names of the outer world in running code. A local variable of such a name is reported too: a reader could not tell
 * the two apart either.
 */
export function worldlyNames(program: Node): [number, string][] {
  const found: [number, string][] = [];
  walk(program, (node, parent) => {
    if (node.type.startsWith("TS") && !runningTsNodes.has(node.type)) return false;
    if (node.type !== "Identifier" || isOnlyAName(node, parent)) return true;
    const name = String(node.name);
    if (forbiddenGlobals.includes(name)) found.push([node.start, `uses \`${name}\``]);
    if (name === "Math" && !isPlainMath(parent))
      found.push([node.start, "uses `Math.random`, or hides whether it does"]);
    return true;
  });
  return found;
}

/** A property or an exported name, as in `world.fetch`, `{ fetch: f }` or `export { f as fetch }`. */
function isOnlyAName(node: Node, parent: Node | undefined): boolean {
  if (!parent || parent.computed) return false;
  if (parent.type === "MemberExpression") return parent.property === node;
  if (parent.type === "ImportSpecifier") return parent.local !== node;
  if (parent.type === "ExportSpecifier" || parent.type === "ExportAllDeclaration")
    return parent.local !== node;
  return parent.key === node;
}

function isPlainMath(parent: Node | undefined): boolean {
  if (parent?.type !== "MemberExpression" || parent.computed) return false;
  return (parent.property as Node).name !== "random";
}
