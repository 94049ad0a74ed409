import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Answer, Role } from "@trackside/server/client";
import { useState } from "react";
import { client, explain } from "../../api.ts";
import { useKeys } from "../../keys/use-keys.ts";
import { useMay, useMe, WHO_MAY } from "../../session.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { LockIcon, MoreIcon, PlusIcon, TrashIcon } from "../../ui/icons.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Page } from "../../ui/page.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { Select } from "../../ui/select.tsx";
import { NoPermission } from "../../ui/states.tsx";
import { Tag } from "../../ui/status-badge.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { Time } from "../../ui/time.tsx";
import { toast } from "../../ui/toast.tsx";
import { OnceShown } from "./once-shown.tsx";
import { ROLE_OPTIONS } from "./roles.ts";

type User = Answer<"listUsers">["items"][number];

/** Who may get in, and what may they do? */
export function UsersPage() {
  const may = useMay("admin");
  return may ? (
    <Users />
  ) : (
    <Page title="Users">
      <NoPermission what="see users" who={WHO_MAY.admin} />
    </Page>
  );
}

function Users() {
  const [creating, setCreating] = useState(false);
  const query = useQuery({
    queryKey: ["users"],
    queryFn: ({ signal }) => client.listUsers({}, { signal }),
  });
  useKeys("Users", [{ keys: "c", what: "Add a user", run: () => setCreating(true) }]);
  return (
    <Page
      title="Users"
      lead="A role says what someone may do. It counts from their next click on."
      actions={
        <Button kind="primary" icon={PlusIcon} onClick={() => setCreating(true)}>
          Add user
        </Button>
      }
    >
      <QueryState query={query} what="Users">
        {({ items }) => <Table label="Users" columns={COLUMNS} rows={items} rowKey={({ id }) => id} />}
      </QueryState>
      {creating && <CreateUser onClose={() => setCreating(false)} />}
    </Page>
  );
}

const COLUMNS: readonly Column<User>[] = [
  {
    id: "name",
    head: "Name",
    cell: ({ id, name, disabled_at }) => (
      <span className="flex min-w-0 items-center gap-2">
        <span className="truncate font-medium">{name}</span>
        <You id={id} />
        {disabled_at !== null && <Tag title="They cannot sign in; their tokens are refused">disabled</Tag>}
      </span>
    ),
  },
  { id: "role", head: "Role", width: "150px", cell: (user) => <RoleSelect user={user} /> },
  {
    id: "password",
    head: "Signs in by",
    width: "130px",
    hideOnPhone: true,
    cell: ({ has_password }) => (
      <span className="text-muted">{has_password ? "password" : "one-time link"}</span>
    ),
  },
  {
    id: "seen",
    head: "Last seen",
    width: "124px",
    hideOnPhone: true,
    cell: ({ last_seen_at }) =>
      last_seen_at === null ? <span className="text-muted">never</span> : <Time at={last_seen_at} />,
  },
  {
    id: "created",
    head: "Added",
    width: "124px",
    hideOnPhone: true,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
  {
    id: "actions",
    head: <span className="sr-only">Actions</span>,
    width: "56px",
    align: "right",
    cell: (user) => <UserActions user={user} />,
  },
];

function You({ id }: { id: string }) {
  return useMe()?.user.id === id ? <Tag>you</Tag> : null;
}

function useUpdate(user: User) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (body: { role?: Role; disabled?: boolean }) =>
      client.updateUser({ params: { id: user.id }, body }),
    onSuccess: (done) => {
      void queryClient.invalidateQueries({ queryKey: ["users"] });
      void queryClient.invalidateQueries({ queryKey: ["me"] });
      toast({ title: `User ${done.name} is changed` });
    },
    onError: (error) =>
      toast({ kind: "problem", title: `User ${user.name} is not changed`, detail: explain(error) }),
  });
}

function RoleSelect({ user }: { user: User }) {
  const update = useUpdate(user);
  return (
    <Select
      aria-label={`Role of ${user.name}`}
      value={update.isPending ? update.variables.role : user.role}
      onChange={(role) => role !== user.role && update.mutate({ role })}
      options={ROLE_OPTIONS}
      disabled={update.isPending}
      className="h-7 min-h-7! coarse:h-9"
    />
  );
}

function UserActions({ user }: { user: User }) {
  const [removing, setRemoving] = useState(false);
  const update = useUpdate(user);
  const queryClient = useQueryClient();
  const { id, name, disabled_at } = user;
  const isMe = useMe()?.user.id === id;
  const disabled = disabled_at !== null;
  return (
    <>
      <Menu
        trigger={<IconButton size="small" icon={MoreIcon} label={`Actions on ${name}`} />}
        items={[
          {
            label: disabled ? "Enable" : "Disable",
            icon: LockIcon,
            hint: disabled ? "They may sign in again" : "Ends their sessions; what they did stays",
            run: () => update.mutate({ disabled: !disabled }),
          },
          {
            label: "Remove",
            icon: TrashIcon,
            danger: !isMe,
            disabled: isMe,
            hint: isMe ? "Another admin can" : undefined,
            run: () => setRemoving(true),
          },
        ]}
      />
      <Confirm
        open={removing}
        onClose={() => setRemoving(false)}
        title={`Remove user ${name}?`}
        description="Lost: their sessions and API tokens end at once. Their runs, decisions and audit entries stay."
        action={`Remove ${name}`}
        danger
        onConfirm={async () => {
          await client.deleteUser({ params: { id } });
          await queryClient.invalidateQueries({ queryKey: ["users"] });
          toast({ title: `User ${name} is removed` });
        }}
      />
    </>
  );
}

function CreateUser({ onClose }: { onClose(): void }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("viewer");
  const [missing, setMissing] = useState(false);
  const queryClient = useQueryClient();
  const create = useMutation({
    mutationFn: () => client.createUser({ body: { name: name.trim(), role } }),
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: ["users"] }),
  });
  const submit = () => (name.trim() ? create.mutate() : setMissing(true));
  const { data } = create;
  if (data)
    return (
      <Dialog
        open
        onClose={onClose}
        title={`User ${data.name} is added`}
        actions={<Button onClick={onClose}>Done</Button>}
      >
        {data.link !== null && (
          <OnceShown label="Sign-in link" secret={data.link}>
            Give them this link. It signs in once, and it is not shown again.
          </OnceShown>
        )}
      </Dialog>
    );
  return (
    <Dialog
      open
      onClose={onClose}
      title="Add a user"
      description="They get a link that signs in once."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" pending={create.isPending} onClick={submit}>
            Add user
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
        <Field label="Name" problem={missing && !name.trim() && "Enter a name."}>
          <TextField
            value={name}
            onChange={setName}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
          />
        </Field>
        <Field label="Role">
          <Select value={role} onChange={setRole} options={ROLE_OPTIONS} />
        </Field>
        {create.error && (
          <p role="alert" className="text-red">
            {explain(create.error)}
          </p>
        )}
      </form>
    </Dialog>
  );
}
