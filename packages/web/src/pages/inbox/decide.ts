import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Request } from "@trackside/server/client";
import { useState } from "react";
import type { JsonObject } from "trackside/schema";
import { ApiProblem, client, mayRetry } from "../../api.ts";
import { type Draft, type Field, type Problem, problemsOf, readValue } from "../../forms/schema-form.ts";
import { noteApprovals } from "../../shell/approval-changes.ts";
import type { Approval } from "./approval.ts";
import { DecisionKeys } from "./decision-key.ts";

export type Decision = Request<"decideApproval">["body"];

export function isConflict(error: unknown): boolean {
  return error instanceof ApiProblem && error.code === "approval_conflict";
}

/** Decides. A decision whose answer was lost is sent again under its own key, so it counts once (X10). */
export function useDecide(approval: Approval) {
  const queryClient = useQueryClient();
  const [keys] = useState(() => new DecisionKeys());
  const { id } = approval;
  return useMutation({
    mutationFn: (body: Decision) =>
      client.decideApproval({ params: { id }, body }, { idempotencyKey: keys.keyOf(body) }),
    retry: (failures, error) => failures < 3 && mayRetry(error),
    retryDelay: (failures) => Math.min(500 * 2 ** failures, 4_000),
    onSuccess: (decided) => {
      keys.answered();
      // The stream tells it too, a moment later.
      noteApprovals(queryClient, [{ ...approval, ...decided, irreversible: approval.irreversible }]);
      void queryClient.invalidateQueries({ queryKey: ["approvals"] });
      if (queryClient.getQueryData(["approval-rules"]) !== undefined)
        void queryClient.invalidateQueries({ queryKey: ["approval-rules"] });
    },
    onError: (error) => {
      if (mayRetry(error)) return;
      keys.answered();
      if (isConflict(error)) void queryClient.invalidateQueries({ queryKey: ["approvals"] });
    },
  });
}

/** What a form says, with what is wrong in it: first the writing, then the value. */
export function readDraft(schema: JsonObject, form: Field, draft: Draft) {
  const read = readValue(form, draft);
  if (read.problems.length > 0) return read;
  const nothing: Problem = { path: [], message: "is needed" };
  if (read.value === undefined) return { value: undefined, problems: [nothing] };
  return { value: read.value, problems: problemsOf(schema, read.value) };
}
