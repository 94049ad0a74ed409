import type { DecideInput } from "../../../../src/approvals/approvals.ts";
import type { AgentsInit } from "./agents.ts";

export interface ProgramInit extends AgentsInit {
  readonly kind: "sqlite" | "postgres";
  readonly target: string;
  /** `desk` has a store and approvals, and no engine. */
  readonly role: "engine" | "desk";
  readonly claims: boolean;
  readonly leaseMs?: number;
  /** It stops itself, as SIGSTOP does, before or after its n-th commit from the first command on. */
  readonly freeze?: { readonly when: "before" | "after"; readonly n: number };
}

export interface NewRun {
  readonly agent: "free" | "gated";
  readonly input: string;
  readonly requestId?: string;
  readonly tenant?: string;
  /** For whoever claims it. */
  readonly queued?: boolean;
  /** Of this run: the new one waits in line when that is busy. */
  readonly conversationOf?: string;
  /** Not before this moment. */
  readonly at?: number;
}

export interface Deciding {
  readonly id: string;
  readonly decision: DecideInput;
  /** Not before this moment. */
  readonly at?: number;
}

export type Command =
  | { readonly do: "start"; readonly runs: readonly NewRun[] }
  | { readonly do: "result"; readonly runs: readonly string[]; readonly tenant?: string }
  | { readonly do: "decide"; readonly decisions: readonly Deciding[]; readonly tenant?: string }
  | { readonly do: "decide-badly"; readonly decisions: readonly Deciding[] }
  | {
      readonly do: "steer";
      readonly messages: readonly {
        readonly runId: string;
        readonly text: string;
        readonly requestId?: string;
        readonly at?: number;
      }[];
    }
  | { readonly do: "cancel"; readonly runs: readonly string[]; readonly reason: string }
  /** No page more than this many beyond those the database has: its disk is full. Without it there is room again. */
  | { readonly do: "fill"; readonly pages?: number }
  | { readonly do: "close" };

/** What came of one of them: what was answered, or the error. */
export interface Got {
  readonly runId?: string;
  readonly state?: string;
  readonly by?: string | undefined;
  readonly id?: string;
  readonly status?: string;
  readonly text?: string;
  readonly code?: string;
  readonly message?: string;
}
