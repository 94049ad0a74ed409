import { AgentConfigError } from "../errors.ts";
import { type ConfigIssue, issue, unknownKey } from "../schema/problems.ts";

export interface ToolFileInit {
  /** Such as `image/png` or `text/csv`. */
  readonly mediaType: string;
  readonly data: Uint8Array;
  /** What a person would call it: `report.pdf`. */
  readonly name?: string;
}

const KEYS = ["mediaType", "data", "name"];
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}(\s*;[\x20-\x7e]{1,200})?$/;
const LONGEST_NAME = 255;

/**
 * A file that a tool returns, alone or in a list beside texts and JSON values. It goes to the artifact store; the model reads
 * where it is, and a short text also what is in it.
 *
 * @example
 * execute: async () => ["The report is ready.", new ToolFile({ mediaType: "application/pdf", data, name: "report.pdf" })]
 */
export class ToolFile {
  readonly mediaType: string;
  readonly name: string | undefined;
  // Private, so that whatever walks through a result does not walk through every byte.
  readonly #data: Uint8Array;

  constructor(init: ToolFileInit) {
    const issues = problemsOf(init);
    if (issues.length > 0) throw new AgentConfigError("the tool's file", issues);
    this.mediaType = init.mediaType;
    this.name = init.name;
    this.#data = init.data;
  }

  get data(): Uint8Array {
    return this.#data;
  }

  /** Nobody means to write a file into the log. */
  toJSON(): never {
    throw new TypeError("a ToolFile is returned by itself or directly in a list, not inside another value");
  }
}

/** Whether a media type says that its content is text. */
export function isText(mediaType: string): boolean {
  const [type = ""] = mediaType.toLowerCase().split(";", 1);
  return /^text\/|[/+](json|xml|yaml|toml|csv)$|^application\/(x-)?(ndjson|jsonl|javascript|ecmascript|typescript|sh|sql|graphql|x-www-form-urlencoded)$|^image\/svg/.test(
    type.trim(),
  );
}

function problemsOf(init: ToolFileInit): ConfigIssue[] {
  if (typeof init !== "object" || init === null)
    return [issue("(root)", init, "an object { mediaType, data, name? }")];
  const issues = Object.keys(init).flatMap((key) => (KEYS.includes(key) ? [] : [unknownKey(key, key, KEYS)]));
  const { mediaType, data, name } = init;
  if (typeof mediaType !== "string" || !MEDIA_TYPE.test(mediaType))
    issues.push(issue("mediaType", mediaType, "a media type such as image/png"));
  if (!(data instanceof Uint8Array)) issues.push(issue("data", data, "a Uint8Array"));
  if (name !== undefined && (typeof name !== "string" || name === "" || name.length > LONGEST_NAME))
    issues.push(issue("name", name, `a text of 1 to ${LONGEST_NAME} characters`));
  return issues;
}
