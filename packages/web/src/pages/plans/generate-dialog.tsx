import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiProblem, client, explain, issuesByPath } from "../../api.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { TextArea } from "../../ui/text-field.tsx";
import { type Board, boardKey } from "./types.ts";

/** The agent's planner makes a plan, in a run of its own. */
export function GenerateDialog({ board, onClose }: { board: Board; onClose(): void }) {
  const { agent, plan } = board;
  const [goal, setGoal] = useState(plan?.goal ?? "");
  const [guidance, setGuidance] = useState("");
  const [pending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const queryClient = useQueryClient();
  const generate = async () => {
    setPending(true);
    setError(undefined);
    try {
      const body = { goal, ...(guidance.trim() && { guidance }) };
      const now = await client.generatePlan({ params: { name: agent }, body });
      queryClient.setQueryData(boardKey(agent), now);
      onClose();
    } catch (problem) {
      setError(problem);
    } finally {
      setPending(false);
    }
  };
  const wrong = issuesByPath(error).get("goal");
  return (
    <Dialog
      open
      onClose={onClose}
      title="Generate a plan"
      description={
        <>
          {agent} is asked with its planner's instructions and model, in a run that is recorded and guarded
          like any other.
          {plan?.state === "active" &&
            ` The new plan takes the place of version ${plan.version}, which stays in the versions.`}
        </>
      }
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" pending={pending} disabled={goal.trim() === ""} onClick={generate}>
            Generate plan
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <Field label="Goal" problem={wrong}>
          <TextArea rows={3} value={goal} onChange={setGoal} placeholder="What is to be reached." />
        </Field>
        <Field label="What it should be like" aside="optional">
          <TextArea
            rows={2}
            value={guidance}
            onChange={setGuidance}
            placeholder="At most four steps. Ask legal before anything is sent."
          />
        </Field>
        {error !== undefined && !wrong && (
          <p role="alert" className="break-words text-red">
            {error instanceof ApiProblem || error instanceof Error ? explain(error) : String(error)}
          </p>
        )}
      </div>
    </Dialog>
  );
}
