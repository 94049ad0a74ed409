import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ApiProblem, client } from "../../api.ts";
import { useKeys } from "../../keys/use-keys.ts";
import { one, useSearchState } from "../../search.ts";
import { useMay } from "../../session.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Drawer } from "../../ui/dialog.tsx";
import { ChevronUpDownIcon, InfoIcon, MenuIcon, PlusIcon } from "../../ui/icons.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Page } from "../../ui/page.tsx";
import { ErrorState } from "../../ui/states.tsx";
import { agentsQuery } from "./agent-picker.tsx";
import { BranchMenu } from "./branch-menu.tsx";
import { branchOf, conversationQuery } from "./conversation.ts";
import { ConversationList } from "./conversation-list.tsx";
import { SidePanel } from "./side-panel.tsx";
import { Thread } from "./thread.tsx";
import type { RunView } from "./transcript.ts";
import { useKept } from "./use-kept.ts";

/** A conversation with an agent: what was said before on the left, the talk in the middle, its run on the right. */
export function Talk({ agent }: { agent: string }) {
  const [search, setSearch] = useSearchState();
  const navigate = useNavigate();
  const conversationId = one(search, "conversation");
  const [isListShown, setListShown] = useKept("playground-list", true);
  const [drawer, setDrawer] = useState<"list" | "run">();
  const [run, setRun] = useState<RunView>();
  const record = useQuery({
    queryKey: ["agents", "one", agent],
    queryFn: ({ signal }) => client.getAgent({ params: { name: agent } }, { signal }),
  });
  const models = useQuery({
    queryKey: ["models"],
    queryFn: ({ signal }) => client.listModels({}, { signal }),
    staleTime: 5 * 60_000,
  });
  const conversation = useQuery({
    ...conversationQuery(conversationId ?? ""),
    enabled: conversationId !== undefined,
  });
  const found = conversationId === undefined ? undefined : conversation.data;
  const branch = found && branchOf(found, one(search, "branch"));
  const mayOperate = useMay("operate");

  const begin = () => {
    setDrawer(undefined);
    void navigate({ to: "/playground/$agent", params: { agent }, search: {} });
  };
  useKeys("Playground", [
    { keys: "n", what: "New conversation", run: begin },
    { keys: "i", what: "Write", run: focusComposer },
    { keys: "b", what: "Show or hide conversations", run: () => setListShown(!isListShown) },
  ]);

  const definition = record.data?.definition;
  const window = windowOf(definition, models.data?.items ?? []);
  const isGone = record.error instanceof ApiProblem && record.error.status === 404;
  const panel = <SidePanel run={run} window={window} conversation={conversationId} />;
  return (
    <Page
      title={`${agent}, playground`}
      fill
      heading={<AgentSwitch agent={agent} />}
      actions={
        <>
          {found && branch && (
            <BranchMenu
              conversation={found}
              branch={branch}
              onChoose={(id) => setSearch({ branch: id }, { push: true })}
            />
          )}
          <IconButton
            icon={MenuIcon}
            label="Show conversations"
            className="lg:hidden"
            onClick={() => setDrawer("list")}
          />
          <IconButton
            icon={MenuIcon}
            label={isListShown ? "Hide conversations" : "Show conversations"}
            aria-pressed={isListShown}
            className="max-lg:hidden"
            onClick={() => setListShown(!isListShown)}
          />
          <IconButton
            icon={InfoIcon}
            label="Show plan, tokens and cost"
            className="xl:hidden"
            onClick={() => setDrawer("run")}
          />
          {conversationId !== undefined && (
            <Button icon={PlusIcon} onClick={begin} disabled={!mayOperate} title="New conversation">
              New
            </Button>
          )}
        </>
      }
    >
      {isGone ? (
        <ErrorState
          what={`There is no agent ${agent}`}
          why="It was deleted or renamed. Its runs are still there."
          next={
            <Link to="/playground" className="text-accent underline">
              Choose another one
            </Link>
          }
        />
      ) : (
        <div className="-mx-4 flex min-h-0 flex-1 border-t border-line md:-mx-6">
          {isListShown && (
            <nav
              aria-label="Conversations"
              className="hidden w-56 shrink-0 overflow-y-auto border-r border-line p-2 lg:block"
            >
              <ConversationList agent={agent} current={conversationId} />
            </nav>
          )}
          <Thread
            agent={agent}
            conversation={found}
            branch={branch}
            query={conversationId === undefined ? undefined : conversation}
            say={one(search, "say")}
            onRun={setRun}
            onGo={(next) => setSearch({ say: undefined, ...next }, { push: true })}
          />
          <aside
            aria-label="Plan, tokens and cost"
            className="hidden w-72 shrink-0 overflow-y-auto border-l border-line p-4 xl:block"
          >
            {panel}
          </aside>
        </div>
      )}
      <Drawer open={drawer === "list"} onClose={() => setDrawer(undefined)} title="Conversations">
        <ConversationList agent={agent} current={conversationId} onChoose={() => setDrawer(undefined)} />
      </Drawer>
      <Drawer open={drawer === "run"} onClose={() => setDrawer(undefined)} title="Plan, tokens and cost">
        {panel}
      </Drawer>
    </Page>
  );
}

/** The agent's name, and the others. */
function AgentSwitch({ agent }: { agent: string }) {
  const { data } = useQuery(agentsQuery);
  const navigate = useNavigate();
  const others = data?.items.filter(({ name }) => name !== agent) ?? [];
  return (
    <span className="flex min-w-0 items-center gap-1">
      <span className="min-w-0 truncate">{agent}</span>
      {others.length > 0 && (
        <Menu
          align="start"
          trigger={<IconButton size="small" icon={ChevronUpDownIcon} label="Talk to another agent" />}
          items={others.map(({ name }) => ({
            label: name,
            run: () => void navigate({ to: "/playground/$agent", params: { agent: name }, search: {} }),
          }))}
        />
      )}
    </span>
  );
}

function windowOf(
  definition: Readonly<Record<string, unknown>> | undefined,
  models: readonly { model: string; window: number | null }[],
): number | null {
  const own = definition?.["context_window_tokens"];
  if (typeof own === "number") return own;
  return models.find(({ model }) => model === definition?.["model"])?.window ?? null;
}

function focusComposer(): void {
  document.querySelector<HTMLElement>("[data-composer]")?.focus();
}
