import { AgentConfigError, TracksideError } from "trackside";
import { issueAt } from "../agents/issues.ts";

/** Somebody else saved it meanwhile. */
export class VersionConflictError extends TracksideError {
  override readonly name: string = "VersionConflictError";
  readonly current: { readonly version: number; readonly by: string; readonly at: number };

  constructor(what: string, given: number, current: VersionConflictError["current"]) {
    super(
      "version_conflict",
      `The ${what} is at version ${current.version}, saved by ${current.by}; ${given} was given. Load it again and repeat your change.`,
    );
    this.current = current;
  }
}

export function nameTaken(noun: string, name: string): TracksideError {
  const article = noun === "agent" ? "an" : "a";
  const message = `There is ${article} ${noun} "${name}" already. Choose another name, or save that one.`;
  return new TracksideError("name_taken", message);
}

export function unknownDefinition(noun: string, name: string, known?: readonly string[]): TracksideError {
  const others = known?.map((one) => `"${one}"`).join(", ");
  const listed = others === undefined ? "" : ` Known: ${others || "none"}.`;
  return new TracksideError("not_found", `There is no ${noun} "${name}".${listed}`);
}

/** JSON that somebody wrote. */
export function parsed(noun: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new AgentConfigError(`the ${noun}`, [issueAt("(root)", text, `JSON (${problem})`)]);
  }
}

/** The same definition under another name; what is no definition stays what it is. */
export function renamed(definition: unknown, name: string): unknown {
  return typeof definition === "object" && definition !== null && !Array.isArray(definition)
    ? { ...definition, name }
    : definition;
}
