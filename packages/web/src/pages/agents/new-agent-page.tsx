import { useQuery } from "@tanstack/react-query";
import { useMay, WHO_MAY } from "../../session.ts";
import { Page } from "../../ui/page.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { Loading, NoPermission } from "../../ui/states.tsx";
import { AgentEditor } from "./editor/agent-editor.tsx";
import { registryQuery } from "./editor/registry.ts";

const EMPTY = { definition: { name: "", model: "" }, autonomous: false };

export function NewAgentPage() {
  const may = useMay("admin");
  const registry = useQuery(registryQuery);
  return (
    <Page title="New agent">
      {may ? (
        <QueryState query={registry} what="What agents may be made of" loading={<Loading shape="form" />}>
          {(found) => <AgentEditor start={EMPTY} registry={found} readOnly={false} />}
        </QueryState>
      ) : (
        <NoPermission what="make agents" who={WHO_MAY.admin} />
      )}
    </Page>
  );
}
