import * as z from "zod";

/** How long to wait between attempts. */
export interface Backoff {
  /** Before the first retry, in seconds. */
  readonly delaySeconds?: number;
  /** How much longer each time. */
  readonly factor?: number;
  readonly maxDelaySeconds?: number;
  /** Whether to wait a random part of it, so that a crowd spreads out; true unless given. */
  readonly jitter?: boolean;
}

export const backoffOptions = {
  delaySeconds: z.number().min(0).max(3600),
  factor: z.number().min(1).max(10).default(2).describe("How much longer each wait is than the one before."),
  maxDelaySeconds: z.number().min(0).max(3600).default(60).describe("The longest wait, in seconds."),
  jitter: z.boolean().default(true).describe("Wait a random part of it, so that a crowd spreads out."),
};

/** The wait before a retry, in seconds; the first is number 1. Never below half, so that nobody hammers. */
export function delayBefore(
  retry: number,
  { delaySeconds, factor, maxDelaySeconds, jitter }: Required<Backoff>,
  random: () => number,
): number {
  const most = Math.min(maxDelaySeconds, delaySeconds * factor ** (retry - 1));
  return jitter ? most * (0.5 + random() / 2) : most;
}
