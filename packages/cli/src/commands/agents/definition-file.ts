import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { messageOf } from "../../approvals/approver.ts";
import { Complaint } from "../../complaint.ts";
import { type Io, readAll } from "../../io.ts";

/** A definition from a file, or from stdin for "-". */
export async function readDefinition(io: Io, file: string): Promise<unknown> {
  let text: string;
  try {
    text = file === "-" ? await readAll(io.stdin) : readFileSync(resolve(io.cwd, file), "utf8");
  } catch (error) {
    throw new Complaint(`${file} cannot be read: ${messageOf(error)}`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Complaint(`${file} is not JSON: ${messageOf(error)}`);
  }
}
