import { Page } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";

export function OverviewPage() {
  return (
    <Page title="Overview">
      <Empty title="Overview" />
    </Page>
  );
}
