import { Page } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";

export function UsersPage() {
  return (
    <Page title="Users">
      <Empty title="Users" />
    </Page>
  );
}
