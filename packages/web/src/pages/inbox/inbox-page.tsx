import { Inbox } from "./inbox.tsx";

export function InboxPage() {
  return <Inbox id={undefined} />;
}
