import { type EndpointName, type Shape, shapes } from "../contract/index.ts";

/** Holds an answer against the contract: nothing missing, nothing that is not in it. */
export function checkAnswer(name: EndpointName, answer: unknown): void {
  const shape: Shape = shapes[name];
  if (shape.answer === undefined) {
    if (answer !== undefined)
      throw new Error(`${name} answers with something, and the contract says nothing`);
    return;
  }
  const sent: unknown = JSON.parse(JSON.stringify(answer) ?? "null");
  const read = shape.answer.safeParse(sent);
  if (!read.success)
    throw new Error(`${name} answers otherwise than the contract says: ${read.error.message}`);
  const more = beyond(sent, read.data, "");
  if (more !== undefined) throw new Error(`${name} answers with ${more}, which the contract does not have`);
}

/** The path of the first thing that is in what was sent and not in what was read of it. */
function beyond(sent: unknown, read: unknown, path: string): string | undefined {
  if (typeof sent !== "object" || sent === null) return undefined;
  if (typeof read !== "object" || read === null) return path || "more";
  for (const [key, value] of Object.entries(sent)) {
    const inner = `${path}.${key}`;
    if (!Object.hasOwn(read, key)) return inner;
    const found = beyond(value, Reflect.get(read, key), inner);
    if (found !== undefined) return found;
  }
  return undefined;
}
