import type { Io } from "./io.ts";

export interface Command {
  readonly help: string;
  /** Resolves to the exit code. */
  run(args: readonly string[], io: Io): Promise<number>;
}

export const EXIT = {
  completed: 0,
  failed: 1,
  usage: 2,
  cancelled: 130,
  terminated: 143,
  /** What a shell says of a program whose reader went away. */
  gone: 141,
} as const;

export const EXIT_HELP = `Exit codes
  0    completed
  1    the run failed
  2    wrong usage or configuration; nothing was run
  130  cancelled by Ctrl-C (143 by SIGTERM, 141 because the reader of stdout went away)`;

export function showHelp(io: Io, help: string): number {
  io.stdout.write(help);
  return EXIT.completed;
}
