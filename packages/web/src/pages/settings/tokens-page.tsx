import { Page } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";

export function TokensPage() {
  return (
    <Page title="API tokens">
      <Empty title="API tokens" />
    </Page>
  );
}
