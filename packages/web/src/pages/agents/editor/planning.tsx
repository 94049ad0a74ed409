import { useQuery } from "@tanstack/react-query";
import { TextArea } from "../../../ui/text-field.tsx";
import { isFlag, isText, useEditor, useValue } from "./context.ts";
import { FlagRow, Row } from "./fields.tsx";
import { KeyHintFor, ModelInput } from "./model-input.tsx";

export function Planning() {
  const { set, issues } = useEditor();
  const on = useValue("planning_enabled", isFlag) ?? false;
  const model = useValue("planning_model", isText) ?? "";
  const instructions = useValue("planning_instructions", isText) ?? "";
  const builtIn = usePlannerPrompt(on);
  // What is wrong in a part that is switched off is still wrong (A4), so it has to be seen.
  const isWrong = issues.ofFields(["planning_model", "planning_instructions"]).length > 0;
  return (
    <>
      <FlagRow
        name="planning_enabled"
        label="Plan before acting"
        hint="A planner looks at the request first; its plan goes to the agent, its talk does not."
      />
      {(on || isWrong) && (
        <>
          <Row
            name="planning_model"
            label="Planner's model"
            aside="optional"
            hint={<KeyHintFor models={[model]} />}
          >
            <ModelInput
              value={model}
              onChange={(next) => set("planning_model", next === "" ? null : next)}
              placeholder="blank: the agent's own model"
            />
          </Row>
          <Row
            name="planning_instructions"
            label="Planner's instructions"
            aside={
              instructions === ""
                ? "blank: the built-in prompt, shown here"
                : "instead of the built-in prompt"
            }
          >
            <TextArea
              rows={4}
              value={instructions}
              onChange={(next) => set("planning_instructions", next)}
              placeholder={builtIn}
            />
          </Row>
        </>
      )}
    </>
  );
}

/** The package's own words. Loaded when they are shown: the schemas beside them are large. */
function usePlannerPrompt(enabled: boolean): string {
  const prompt = useQuery({
    queryKey: ["planner-prompt"],
    queryFn: async () => {
      const { PLANNER_PROMPT } = await import("trackside/schema");
      return PLANNER_PROMPT;
    },
    staleTime: Number.POSITIVE_INFINITY,
    enabled,
  });
  return prompt.data ?? "The built-in planner prompt.";
}
