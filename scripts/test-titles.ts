import { isNode, lineAt, type Node, parse, walk } from "./syntax.ts";

/** `behaviour` is how a conformance suite names a test before it knows its engine. */
const tests = new Set(["test", "it", "behaviour"]);
const groups = new Set(["describe", "suite"]);
const unrun = new Set(["skip", "todo"]);

/** Titles of the tests in a file, and of the groups that hold at least one; whatever is skipped is left out. */
export function testTitles(path: string, text: string): { title: string; line: number }[] {
  return titlesIn(parse(path, text)).map(({ title, start }) => ({ title, line: lineAt(text, start) }));
}

function titlesIn(root: Node): { title: string; start: number }[] {
  const found: { title: string; start: number }[] = [];
  walk(root, (node) => {
    if (node === root || node.type !== "CallExpression") return true;
    const words = calleeWords(node.callee);
    const name = words[0] ?? "";
    if (!tests.has(name) && !groups.has(name)) return true;
    if (words.some((word) => unrun.has(word))) return false;
    const title = titleOf((node.arguments as unknown[])[0]);
    const inner = groups.has(name) ? titlesIn(node) : [];
    if (title !== undefined && (tests.has(name) || inner.length > 0))
      found.push({ title, start: node.start });
    found.push(...inner);
    // A call without a title is the table of `test.each([…])("…")`: the call around it has been seen already.
    return false;
  });
  return found;
}

/** `test.concurrent.each(table)` as `["test", "concurrent", "each"]`. */
function calleeWords(callee: unknown): string[] {
  if (!isNode(callee)) return [];
  if (callee.type === "Identifier") return [String(callee.name)];
  if (callee.type === "MemberExpression" && isNode(callee.property))
    return [...calleeWords(callee.object), String(callee.property.name)];
  if (callee.type === "CallExpression") return calleeWords(callee.callee);
  if (callee.type === "TaggedTemplateExpression") return calleeWords(callee.tag);
  return [];
}

/** The text of a string or template; what is filled in at run time stays a gap. */
function titleOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === "Literal") return typeof node.value === "string" ? node.value : undefined;
  if (node.type === "TemplateLiteral")
    return (node.quasis as { value: { cooked: string } }[]).map((quasi) => quasi.value.cooked).join("…");
  return undefined;
}
