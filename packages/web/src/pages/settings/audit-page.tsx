import { Page } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";

export function AuditPage() {
  return (
    <Page title="Audit">
      <Empty title="Audit" />
    </Page>
  );
}
