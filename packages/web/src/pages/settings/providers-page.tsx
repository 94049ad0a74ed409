import { Page } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";

export function ProvidersPage() {
  return (
    <Page title="Providers">
      <Empty title="Providers" />
    </Page>
  );
}
