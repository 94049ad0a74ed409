import { Page } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";

export function AgentsPage() {
  return (
    <Page title="Agents">
      <Empty title="Agents" />
    </Page>
  );
}
