import { Page } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";

export function RunPage() {
  return (
    <Page title="Run">
      <Empty title="Run" />
    </Page>
  );
}
