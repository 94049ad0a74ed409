import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Answer } from "@trackside/server/client";
import { useState } from "react";
import { client, explain } from "../../api.ts";
import { formatDuration } from "../../format/duration.ts";
import { one, useSearchState } from "../../search.ts";
import { useMay, WHO_MAY } from "../../session.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { CheckIcon, MinusIcon, WarningIcon } from "../../ui/icons.tsx";
import { Page } from "../../ui/page.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { Time } from "../../ui/time.tsx";
import { toast } from "../../ui/toast.tsx";

type Provider = Answer<"listProviders">["items"][number];

const FROM = { stored: "set here", environment: "from the environment", config: "from the configuration" };

const COLUMNS: readonly Column<Provider>[] = [
  {
    id: "name",
    head: "Provider",
    cell: ({ name }) => <span className="font-medium">{name}</span>,
  },
  { id: "key", head: "Key", width: "40%", cell: (provider) => <KeyState provider={provider} /> },
  {
    id: "url",
    head: "Base URL",
    width: "26%",
    hideOnPhone: true,
    cell: ({ base_url }) =>
      base_url ? (
        <span className="font-mono text-sm">{base_url}</span>
      ) : (
        <span className="text-muted">its own</span>
      ),
  },
  {
    id: "updated",
    head: "Changed",
    width: "108px",
    hideOnPhone: true,
    cell: ({ updated_at }) => (updated_at === null ? null : <Time at={updated_at} />),
  },
];

/** Which models can be asked? Keys go in and never come out again. */
export function ProvidersPage() {
  const [search, setSearch] = useSearchState();
  const query = useQuery({
    queryKey: ["providers"],
    queryFn: ({ signal }) => client.listProviders({}, { signal }),
  });
  const chosen = one(search, "provider");
  return (
    <Page title="Providers" lead="Who answers model calls. A key is written once and never shown again.">
      <QueryState query={query} what="Providers">
        {({ items }) => {
          const provider = items.find(({ name }) => name === chosen);
          return (
            <>
              <Table
                label="Providers"
                columns={COLUMNS}
                rows={ordered(items)}
                rowKey={({ name }) => name}
                onOpen={({ name }) => setSearch({ provider: name })}
              />
              {provider && (
                <ProviderDialog
                  key={provider.name}
                  provider={provider}
                  onClose={() => setSearch({ provider: undefined })}
                />
              )}
            </>
          );
        }}
      </QueryState>
    </Page>
  );
}

/** Those that work first. */
function ordered(items: readonly Provider[]): readonly Provider[] {
  const rank = ({ key, needs_key }: Provider) => (key !== null ? 0 : needs_key ? 1 : 2);
  return items.toSorted((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
}

function KeyState({ provider: { key, needs_key } }: { provider: Provider }) {
  if (key === null)
    return (
      <span className="inline-flex items-center gap-1.5 text-muted">
        <MinusIcon width={12} height={12} />
        {needs_key ? "not set" : "needs none"}
      </span>
    );
  return (
    <span className="inline-flex items-center gap-1.5">
      <CheckIcon width={12} height={12} className="text-green" />
      set <span className="text-muted">{FROM[key]}</span>
    </span>
  );
}

function ProviderDialog({ provider, onClose }: { provider: Provider; onClose(): void }) {
  const { name, key, base_url, needs_key } = provider;
  const [secret, setSecret] = useState("");
  const [address, setAddress] = useState(base_url ?? "");
  const [forgetting, setForgetting] = useState(false);
  const may = useMay("admin");
  const queryClient = useQueryClient();
  const refresh = () => {
    void queryClient.invalidateQueries({ queryKey: ["providers"] });
    void queryClient.invalidateQueries({ queryKey: ["registry"] });
  };
  const isChanged = secret !== "" || address !== (base_url ?? "");
  const save = useMutation({
    mutationFn: () =>
      client.setProvider({
        params: { provider: name },
        body: {
          ...(secret && { api_key: secret }),
          ...(address !== (base_url ?? "") && { base_url: address || null }),
        },
      }),
    onSuccess: () => {
      setSecret("");
      refresh();
      toast({ title: `Provider ${name} is saved` });
    },
  });
  return (
    <>
      <Dialog
        open
        onClose={onClose}
        title={name}
        description={
          may ? (
            <KeyState provider={provider} />
          ) : (
            `Read-only for you. ${WHO_MAY.admin} can change and test it.`
          )
        }
        actions={
          <>
            {key === "stored" && may && (
              <Button className="mr-auto" onClick={() => setForgetting(true)}>
                Forget the key
              </Button>
            )}
            <Button onClick={onClose}>Close</Button>
            <Button
              kind="primary"
              disabled={!may || !isChanged}
              pending={save.isPending}
              onClick={() => save.mutate()}
            >
              Save {name}
            </Button>
          </>
        }
      >
        <div className="flex flex-col gap-4">
          <Field
            label={key === null ? "Key" : "New key"}
            disabled={!may}
            aside={needs_key ? undefined : "optional"}
            hint={
              key === "environment" || key === "config"
                ? "One that is set here comes before it."
                : "Stored encrypted. It never leaves the server again."
            }
          >
            <TextField
              type="password"
              mono
              value={secret}
              onChange={setSecret}
              autoComplete="off"
              spellCheck={false}
              placeholder={key === null ? undefined : "••••••••••••"}
            />
          </Field>
          <Field
            label="Base URL"
            aside="optional"
            disabled={!may}
            hint="Where it is asked, if not at its own address. Empty takes it away."
          >
            <TextField
              mono
              type="url"
              value={address}
              onChange={setAddress}
              placeholder="its own"
              spellCheck={false}
            />
          </Field>
          {save.error && (
            <p role="alert" className="text-red">
              {explain(save.error)}
            </p>
          )}
          {may && <ProviderTest name={name} unsaved={isChanged} />}
        </div>
      </Dialog>
      <Confirm
        open={forgetting}
        onClose={() => setForgetting(false)}
        title={`Forget the key of ${name}?`}
        description="Lost: the key that was set here. Runs that need it fail until another one is set, unless the environment has one."
        action="Forget the key"
        danger
        onConfirm={async () => {
          await client.deleteProviderKey({ params: { provider: name } });
          refresh();
        }}
      />
    </>
  );
}

/** Asks for one token with what is saved, and says in a line what came of it. */
function ProviderTest({ name, unsaved }: { name: string; unsaved: boolean }) {
  const [model, setModel] = useState("");
  const test = useMutation({
    mutationFn: () =>
      client.testProvider({
        params: { provider: name },
        body: { ...(model.trim() && { model: model.trim() }) },
      }),
  });
  const { data } = test;
  return (
    <section aria-label="Connection test" className="flex flex-col gap-2 border-t border-line pt-3">
      <div className="flex items-end gap-2">
        <Field label="Test with model" aside="optional" className="flex-1">
          <TextField
            mono
            value={model}
            onChange={setModel}
            placeholder="a small one of its own"
            spellCheck={false}
          />
        </Field>
        <Button pending={test.isPending} disabled={unsaved} onClick={() => test.mutate()}>
          Test {name}
        </Button>
      </div>
      <p aria-live="polite" className="text-sm break-words">
        {unsaved ? (
          <span className="text-muted">Save first: the test uses what is stored.</span>
        ) : test.error ? (
          <span className="text-red">{explain(test.error)}</span>
        ) : data?.ok ? (
          <span className="inline-flex items-center gap-1.5 text-green">
            <CheckIcon width={12} height={12} />
            {data.model} answered in {formatDuration(data.duration_ms)}.
          </span>
        ) : data ? (
          <span className="flex items-start gap-1.5 text-red">
            <WarningIcon width={12} height={12} className="mt-1" />
            <span className="min-w-0">
              {data.model} did not answer: {data.error ?? "no reason was given"}
            </span>
          </span>
        ) : (
          <span className="text-muted">Asks for one token; that may cost a fraction of a cent.</span>
        )}
      </p>
    </section>
  );
}
