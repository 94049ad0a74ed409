import { useQuery } from "@tanstack/react-query";
import { one, useSearchState } from "../../search.ts";
import { useMay, WHO_MAY } from "../../session.ts";
import { QueryState } from "../../ui/query-state.tsx";
import { ErrorState, Loading, NoPermission } from "../../ui/states.tsx";
import { useWide } from "../runs/wide.ts";
import type { Definition } from "./draft/definition.ts";
import { catalogQuery } from "./editor/catalog.ts";
import { WorkflowEditor } from "./editor/workflow-editor.tsx";
import { Frame } from "./frame.tsx";
import { templatesQuery } from "./templates.ts";

const BLANK: Definition = { name: "", nodes: {} };

export function NewWorkflowPage() {
  const may = useMay("admin");
  const wide = useWide();
  const [search] = useSearchState();
  const template = one(search, "template");
  const catalog = useQuery(catalogQuery);
  const templates = useQuery({ ...templatesQuery, enabled: template !== undefined });
  return (
    <Frame title="New workflow">
      {!may ? (
        <NoPermission what="make workflows" who={WHO_MAY.admin} />
      ) : !wide ? (
        <ErrorState
          what="A canvas needs a wider screen"
          why="Workflows are drawn on a desk. Here they can be read, run and watched."
        />
      ) : (
        <QueryState query={catalog} what="What nodes may be made of" loading={<Loading shape="plot" />}>
          {(found) =>
            template === undefined ? (
              <WorkflowEditor start={BLANK} catalog={found} readOnly={false} actions={() => null} />
            ) : (
              <QueryState query={templates} what="Templates" loading={<Loading shape="plot" />}>
                {({ items }) => {
                  const from = items.find(({ id }) => id === template);
                  return from === undefined ? (
                    <ErrorState what={`There is no template called ${template}`} />
                  ) : (
                    <WorkflowEditor
                      start={from.definition as Definition} // the server's own, checked there
                      catalog={found}
                      readOnly={false}
                      actions={() => null}
                    />
                  );
                }}
              </QueryState>
            )
          }
        </QueryState>
      )}
    </Frame>
  );
}
