import { Page } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";

export function PlaygroundPage() {
  return (
    <Page title="Playground">
      <Empty title="Playground" />
    </Page>
  );
}
