import { userInfo } from "node:os";
import type { Io } from "./io.ts";

/** Who decides, unless `--by` says it: the user of this machine. */
export function whoAmI(env: Io["env"]): string {
  try {
    return userInfo().username;
  } catch {
    return env.USER || "cli"; // a user id without a name, as in some containers
  }
}
