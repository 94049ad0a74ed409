import type { Approval } from "trackside";
import { Complaint } from "../complaint.ts";
import type { Io, Output } from "../io.ts";
import type { Prompt } from "../prompt.ts";
import { showApproval } from "../screen/approval-view.ts";
import type { Calls } from "../screen/calls.ts";
import { cleanLine, jsonLine } from "../screen/clean.ts";
import type { Screen } from "../screen/screen.ts";
import { shortId } from "../short-id.ts";
import type { MakeApprover } from "./approver.ts";
import { AskPerson } from "./ask-person.ts";
import { approves, automatic, NO_ONE, type Rule, rejects } from "./automatic.ts";
import { decisionLines } from "./decision-lines.ts";
import { editorOf } from "./open-editor.ts";

const WORDS = ["ask", "none", "all", "wait"] as const;
/** What `--approve` says. */
export type ApproveWord = (typeof WORDS)[number];

/** Who decides: a person, lines of JSON on stdin, a rule, or whoever decides elsewhere. */
export type Policy =
  | { readonly kind: "person"; readonly prompt: () => Prompt; readonly by?: string }
  | { readonly kind: "elsewhere" }
  | { readonly kind: "lines" }
  | { readonly kind: "none"; readonly by: string; readonly reason: string }
  | { readonly kind: "all"; readonly by: string };

/** Where deciding takes place. */
export interface Place {
  readonly io: Io;
  readonly output: Output;
  readonly screen: Screen;
  readonly calls: Calls;
  /** Whether a person reads how the run goes. */
  readonly shown: boolean;
  readonly hold: () => void;
  readonly release: () => void;
}

export function readApprove(given: string | undefined): ApproveWord | undefined {
  if (given === undefined) return undefined;
  const found = WORDS.find((word) => word === given);
  if (found === undefined)
    throw new Complaint(`--approve: ${JSON.stringify(given)} is none of ${WORDS.join(", ")}.`);
  return found;
}

/** The policy that `--approve` names. `asking` is who would be asked; undefined where nobody can be. */
export function policyFor(
  word: ApproveWord | undefined,
  asking: {
    readonly policy: Policy | undefined;
    readonly byDefault: boolean;
    readonly otherwise: string;
    /** Whether what waits can be decided elsewhere, as in a store. */
    readonly durable?: boolean;
  },
): Policy {
  const chosen = word ?? (asking.byDefault ? "ask" : asking.durable ? "wait" : "none");
  if (chosen === "wait") {
    if (asking.durable) return { kind: "elsewhere" };
    throw new Complaint(
      "--approve wait: only what is in a store can wait. Name an agent of trackside.config.ts.",
    );
  }
  if (chosen === "none") return { kind: "none", by: "--approve none", reason: NO_ONE };
  if (chosen === "all") return { kind: "all", by: "--approve all" };
  if (asking.policy === undefined) throw new Complaint(asking.otherwise);
  return asking.policy;
}

export function approverFor(policy: Policy, place: Place): MakeApprover {
  const { io, output, screen, calls, hold, release } = place;
  const announce = (head: string) => (approval: Approval) =>
    showApproval(screen, approval, { head, call: calls.of(approval.call_id), decided: true });
  const failed: Rule["failed"] = (message) => screen.line(`! not taken: ${cleanLine(message)}`);
  switch (policy.kind) {
    case "person":
      return (desk) =>
        new AskPerson(desk, {
          screen,
          prompt: policy.prompt,
          editor: editorOf(io, output),
          callOf: (callId) => calls.of(callId),
          hold,
          release,
          by: policy.by,
        });
    case "elsewhere":
      return () => ({
        away: false,
        asked(approval) {
          const id = shortId(approval.id);
          if (!place.shown) return;
          announce("waits for a decision")(approval);
          screen.line(`  decide: trackside approvals approve ${id}`);
        },
        settled() {},
        async end() {},
      });
    case "lines":
      return (desk) =>
        decisionLines(desk, io.stdin, (report) => {
          io.stderr.write(`${jsonLine(report)}\n`);
        });
    case "none": {
      const { by, reason } = policy;
      const say = place.shown ? announce("needs approval") : () => {};
      return (desk) => automatic(desk, { by, announce: say, decide: rejects(reason), failed });
    }
    case "all": {
      const { by } = policy;
      return (desk) =>
        automatic(desk, { by, announce: announce("needs approval"), decide: approves, failed });
    }
  }
}
