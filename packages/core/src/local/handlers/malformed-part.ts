/** A stream part that is not what the specification says it is. Nothing can be made of an answer that holds one. */
export class MalformedPart extends Error {
  override readonly name = "MalformedPart";

  constructor(type: string, problem: string) {
    super(`the provider sent a ${type} part ${problem}`);
  }
}

/** What a provider attached to a part, as JSON has it: what is undefined in its object is not there. */
export function asJson<T>(type: string, value: T): T {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    throw new MalformedPart(type, "with something that is not JSON");
  }
}
