import { Page } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";

export function VersionsPage() {
  return (
    <Page title="Versions">
      <Empty title="Versions" />
    </Page>
  );
}
