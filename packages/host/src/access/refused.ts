import { TracksideError } from "trackside";

/** Why access refuses a change: stable codes, for problem documents. */
export type AccessCode =
  | "user_invalid"
  | "user_exists"
  | "user_unknown"
  | "password_refused"
  | "last_admin"
  | "token_invalid"
  | "token_unknown"
  | "role_refused";

/** An error for whoever asked. It never repeats a password or another secret. */
export function refused(code: AccessCode, message: string): TracksideError {
  return new TracksideError(code, message);
}
