import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Answer, Role } from "@trackside/server/client";
import { useState } from "react";
import { client, explain } from "../../api.ts";
import { useKeys } from "../../keys/use-keys.ts";
import { useMe } from "../../session.ts";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { PlusIcon } from "../../ui/icons.tsx";
import { Page } from "../../ui/page.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { Select } from "../../ui/select.tsx";
import { Empty } from "../../ui/states.tsx";
import { Tag } from "../../ui/status-badge.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { Time } from "../../ui/time.tsx";
import { toast } from "../../ui/toast.tsx";
import { OnceShown } from "./once-shown.tsx";
import { grantable } from "./roles.ts";

type Token = Answer<"listTokens">["items"][number];

/** Which programs may use the API, as whom? */
export function TokensPage() {
  const [creating, setCreating] = useState(false);
  const query = useQuery({
    queryKey: ["tokens"],
    queryFn: ({ signal }) => client.listTokens({}, { signal }),
  });
  const admin = useMe()?.role === "admin";
  useKeys("API tokens", [{ keys: "c", what: "Create a token", run: () => setCreating(true) }]);
  const create = (
    <Button kind="primary" icon={PlusIcon} onClick={() => setCreating(true)}>
      Create token
    </Button>
  );
  return (
    <Page
      title="API tokens"
      lead={admin ? "For programs. You see everybody's." : "For programs. They may do what you may, or less."}
      actions={create}
    >
      <QueryState query={query} what="Tokens">
        {({ items }) =>
          items.length === 0 ? (
            <Empty
              title="No tokens yet"
              action={create}
              code={`curl -H "Authorization: Bearer $TOKEN" ${location.origin}/api/v1/agents`}
            >
              A token lets a program use the API as you, with your role or a smaller one.
            </Empty>
          ) : (
            <Table label="Tokens" columns={COLUMNS} rows={ordered(items)} rowKey={({ id }) => id} />
          )
        }
      </QueryState>
      {creating && <CreateToken onClose={() => setCreating(false)} />}
    </Page>
  );
}

function stateOf({ revoked_at, expires_at }: Token): "live" | "revoked" | "expired" {
  if (revoked_at !== null) return "revoked";
  return expires_at !== null && expires_at <= Date.now() ? "expired" : "live";
}

/** Those that work first, the newest of them on top. */
function ordered(items: readonly Token[]): readonly Token[] {
  const rank = (token: Token) => (stateOf(token) === "live" ? 0 : 1);
  return items.toSorted((a, b) => rank(a) - rank(b) || b.created_at - a.created_at);
}

const COLUMNS: readonly Column<Token>[] = [
  {
    id: "name",
    head: "Name",
    cell: (token) => (
      <span className="flex min-w-0 items-center gap-2">
        <span
          className={stateOf(token) === "live" ? "truncate font-medium" : "truncate text-muted line-through"}
        >
          {token.name}
        </span>
        {stateOf(token) !== "live" && <Tag>{stateOf(token)}</Tag>}
      </span>
    ),
  },
  {
    id: "prefix",
    head: "Begins with",
    width: "136px",
    hideOnPhone: true,
    cell: ({ prefix }) => <span className="font-mono text-sm text-muted">{prefix}…</span>,
  },
  { id: "user", head: "Of", width: "16%", hideOnPhone: true, cell: ({ user }) => user.name },
  { id: "role", head: "Role", width: "88px", cell: ({ role }) => role },
  {
    id: "used",
    head: "Last used",
    width: "116px",
    hideOnPhone: true,
    cell: ({ last_used_at }) =>
      last_used_at === null ? <span className="text-muted">never</span> : <Time at={last_used_at} />,
  },
  {
    id: "expires",
    head: "Expires",
    width: "116px",
    hideOnPhone: true,
    cell: ({ expires_at }) =>
      expires_at === null ? <span className="text-muted">never</span> : <Time at={expires_at} />,
  },
  {
    id: "actions",
    head: <span className="sr-only">Actions</span>,
    width: "104px",
    align: "right",
    cell: (token) => (stateOf(token) === "revoked" ? null : <Revoke token={token} />),
  },
];

function Revoke({ token: { id, name, user } }: { token: Token }) {
  const [open, setOpen] = useState(false);
  const queryClient = useQueryClient();
  return (
    <>
      <Button size="small" aria-label={`Revoke ${name}`} onClick={() => setOpen(true)}>
        Revoke
      </Button>
      <Confirm
        open={open}
        onClose={() => setOpen(false)}
        title={`Revoke token ${name}?`}
        description={`Programs that use it as ${user.name} are refused from now on. It cannot be brought back.`}
        action={`Revoke ${name}`}
        danger
        onConfirm={async () => {
          await client.revokeToken({ params: { id } });
          await queryClient.invalidateQueries({ queryKey: ["tokens"] });
          toast({ title: `Token ${name} is revoked` });
        }}
      />
    </>
  );
}

const DAY = 24 * 60 * 60 * 1000;
const LIVES = [
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "1 year" },
  { value: "never", label: "Never", hint: "Until somebody revokes it" },
] as const;

function CreateToken({ onClose }: { onClose(): void }) {
  const me = useMe();
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("viewer");
  const [life, setLife] = useState<(typeof LIVES)[number]["value"]>("90");
  const [missing, setMissing] = useState(false);
  const queryClient = useQueryClient();
  const create = useMutation({
    mutationFn: () => {
      const expires_at = life === "never" ? null : Date.now() + Number(life) * DAY;
      return client.createToken({ body: { name: name.trim(), role, expires_at } });
    },
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: ["tokens"] }),
  });
  const submit = () => (name.trim() ? create.mutate() : setMissing(true));
  const { data } = create;
  if (data)
    return (
      <Dialog
        open
        onClose={onClose}
        title={`Token ${data.name} is made`}
        actions={<Button onClick={onClose}>Done</Button>}
      >
        <OnceShown label="Token" secret={data.secret}>
          Copy it now: it is not shown again.
        </OnceShown>
        <CodeBlock
          className="mt-3"
          label="Example"
          code={`curl -H "Authorization: Bearer $TOKEN" \\\n  ${location.origin}/api/v1/agents`}
        />
      </Dialog>
    );
  return (
    <Dialog
      open
      onClose={onClose}
      title="Create an API token"
      description={`It acts as ${me?.user.name ?? "you"}, with this role.`}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" pending={create.isPending} onClick={submit}>
            Create token
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Field
          label="Name"
          hint="What it is for: deploy-bot, nightly report."
          problem={missing && !name.trim() && "Enter a name."}
        >
          <TextField value={name} onChange={setName} autoComplete="off" maxLength={100} />
        </Field>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Role">
            <Select value={role} onChange={setRole} options={grantable(me?.role)} />
          </Field>
          <Field label="Expires after">
            <Select value={life} onChange={setLife} options={LIVES} />
          </Field>
        </div>
        {create.error && (
          <p role="alert" className="text-red">
            {explain(create.error)}
          </p>
        )}
      </form>
    </Dialog>
  );
}
