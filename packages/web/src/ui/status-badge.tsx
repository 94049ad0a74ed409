import type { ReactNode } from "react";
import { cx } from "./class-names.ts";

/** The six words of the contract and the command line, and no others. */
export const STATUSES = ["Running", "Waiting for you", "Done", "Failed", "Stopped", "Parked"] as const;
export type Status = (typeof STATUSES)[number];

/** Colour comes last: each status is a word, a shape of its own, and then a colour. */
const LOOKS: Record<Status, { colour: string; shape: ReactNode }> = {
  Running: {
    colour: "bg-blue-soft text-blue",
    shape: <path d="M6 1.5a4.5 4.5 0 1 1-4.5 4.5" fill="none" stroke="currentColor" strokeWidth="2" />,
  },
  "Waiting for you": {
    colour: "bg-amber-soft text-amber",
    shape: <path d="M6 .5 11.5 6 6 11.5.5 6 6 .5Z" fill="currentColor" />,
  },
  Done: {
    colour: "bg-green-soft text-green",
    shape: <path d="m1.5 6.5 3 3 6-7" fill="none" stroke="currentColor" strokeWidth="2" />,
  },
  Failed: {
    colour: "bg-red-soft text-red",
    shape: <path d="m2 2 8 8m0-8-8 8" fill="none" stroke="currentColor" strokeWidth="2" />,
  },
  Stopped: {
    colour: "bg-sunken text-muted",
    shape: <path d="M2 2h8v8H2z" fill="currentColor" />,
  },
  Parked: {
    colour: "border-amber text-amber",
    shape: <path d="M2.5 1.5h2.5v9H2.5zM7 1.5h2.5v9H7z" fill="currentColor" />,
  },
};

export function StatusBadge({ status, title }: { status: Status; title?: string }) {
  const { colour, shape } = LOOKS[status];
  return (
    <span
      title={title}
      className={cx(
        "inline-flex h-5 items-center gap-1.5 rounded-sm border px-1.5 text-xs font-medium whitespace-nowrap",
        status !== "Parked" && "border-transparent",
        colour,
      )}
    >
      <svg
        width="12"
        height="12"
        viewBox="0 0 12 12"
        aria-hidden="true"
        className={cx("shrink-0", status === "Running" && "spin")}
      >
        {shape}
      </svg>
      {status}
    </span>
  );
}

/** A small label that tells no state: a version, "gated", "shadow". */
export function Tag({ children, title }: { children: ReactNode; title?: string }) {
  return (
    <span
      title={title}
      className="inline-flex h-5 items-center gap-1 rounded-sm border border-line px-1.5 text-xs whitespace-nowrap text-muted"
    >
      {children}
    </span>
  );
}
