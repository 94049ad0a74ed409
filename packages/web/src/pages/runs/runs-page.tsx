import { Page } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";

export function RunsPage() {
  return (
    <Page title="Runs">
      <Empty title="Runs" />
    </Page>
  );
}
