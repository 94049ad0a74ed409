import { Button } from "../../ui/button.tsx";
import { EditIcon, PlusIcon } from "../../ui/icons.tsx";
import { Empty, Loading } from "../../ui/states.tsx";

/** What a plan is, and the two ways to one. */
export function NoPlan({
  agent,
  refused,
  isGenerating,
  onWrite,
  onGenerate,
}: {
  agent: string;
  refused: string | undefined;
  isGenerating: boolean;
  onWrite(): void;
  onGenerate(): void;
}) {
  if (isGenerating) return <Loading shape="rows" count={4} />;
  return (
    <Empty
      title={`${agent} has no plan yet`}
      action={
        <span className="flex flex-wrap justify-center gap-2">
          <Button
            kind="primary"
            icon={PlusIcon}
            disabled={refused !== undefined}
            title={refused}
            onClick={onGenerate}
          >
            Generate a plan
          </Button>
          <Button icon={EditIcon} disabled={refused !== undefined} title={refused} onClick={onWrite}>
            Write one
          </Button>
        </span>
      }
      code="trackside.plans.create(agent, { goal, steps }, { by })"
    >
      A plan is a goal and steps that depend on each other. Each step is a run of the agent, and its output
      can be verified.
      {refused && ` ${refused} make one.`}
    </Empty>
  );
}
