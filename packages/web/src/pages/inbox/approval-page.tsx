import { Page } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";

export function ApprovalPage() {
  return (
    <Page title="Approval">
      <Empty title="Approval" />
    </Page>
  );
}
