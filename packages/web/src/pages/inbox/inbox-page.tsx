import { Page } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";

export function InboxPage() {
  return (
    <Page title="Inbox">
      <Empty title="Inbox" />
    </Page>
  );
}
