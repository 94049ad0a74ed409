import { client } from "../../api.ts";
import { relativeTime } from "../../format/time.ts";
import { Button } from "../../ui/button.tsx";
import { copyText } from "../../ui/copy-button.tsx";
import { BranchIcon, CheckIcon, DownloadIcon, LinkIcon } from "../../ui/icons.tsx";
import { Menu } from "../../ui/menu.tsx";
import { type Branch, branchName, type Conversation } from "./conversation.ts";

/** Which branch is shown, the others, and what can be taken along of it. */
export function BranchMenu({
  conversation,
  branch,
  onChoose,
}: {
  conversation: Conversation;
  branch: Branch;
  onChoose(id: string): void;
}) {
  const branches = conversation.branches.toSorted((a, b) => a.created_at - b.created_at);
  return (
    <Menu
      trigger={
        <Button icon={BranchIcon} title="Branches of this conversation">
          {branchName(conversation, branch.id)}
        </Button>
      }
      items={[
        ...branches.map((one) => ({
          label: branchName(conversation, one.id),
          icon: one.id === branch.id ? CheckIcon : BranchIcon,
          hint: [
            one.id === branch.id && "shown",
            one.active_run_id !== null && "running",
            `made ${relativeTime(one.created_at, Date.now())}`,
            one.parent_id !== null && `from ${branchName(conversation, one.parent_id)}`,
          ]
            .filter(Boolean)
            .join(", "),
          run: () => onChoose(one.id),
        })),
        null,
        { label: "Copy link", icon: LinkIcon, run: () => void copyText(linkTo(conversation, branch)) },
        {
          label: "Download as JSON lines",
          icon: DownloadIcon,
          run: () => location.assign(client.url("exportBranch", { params: { id: branch.id } })),
        },
      ]}
    />
  );
}

function linkTo({ id }: Conversation, branch: Branch): string {
  const url = new URL(location.href);
  url.search = new URLSearchParams({ conversation: id, branch: branch.id }).toString();
  return url.href;
}
