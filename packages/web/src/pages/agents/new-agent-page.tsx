import { Page } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";

export function NewAgentPage() {
  return (
    <Page title="New agent">
      <Empty title="New agent" />
    </Page>
  );
}
