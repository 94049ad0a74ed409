import { useParams } from "@tanstack/react-router";
import { Inbox } from "./inbox.tsx";

export function ApprovalPage() {
  const { id } = useParams({ from: "/signed-in/inbox/$id" });
  return <Inbox id={id} />;
}
