import { Page } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";

export function AgentPage() {
  return (
    <Page title="Agent">
      <Empty title="Agent" />
    </Page>
  );
}
