/** One thing that was looked at. */
export interface Finding {
  readonly what: string;
  /** `note`: nothing is wrong, but it is worth knowing. */
  readonly state: "ok" | "note" | "wrong";
  readonly detail: string;
  /** What to do. */
  readonly next?: string;
}
