import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { client } from "../../api.ts";
import { one, useSearchState } from "../../search.ts";
import { useMay, WHO_MAY } from "../../session.ts";
import { Button } from "../../ui/button.tsx";
import { cx } from "../../ui/class-names.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Field } from "../../ui/field.tsx";
import { QueryState } from "../../ui/query-state.tsx";
import { Empty, Loading } from "../../ui/states.tsx";
import { Tag } from "../../ui/status-badge.tsx";
import { Switch } from "../../ui/switch.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { Time } from "../../ui/time.tsx";
import type { Rule } from "./approval.ts";

/** Decisions that are remembered, in words, each with a way to forget it. */
export function Rules() {
  const [search, setSearch] = useSearchState();
  const revoked = one(search, "revoked") === "true";
  const [revoking, setRevoking] = useState<Rule>();
  const query = useQuery({
    queryKey: ["approval-rules", revoked],
    queryFn: ({ signal }) =>
      client.listRules({ query: revoked ? { revoked: "true" as const } : {} }, { signal }),
  });
  return (
    <div className="flex min-w-0 flex-col gap-2 py-3">
      {/* biome-ignore lint/a11y/noLabelWithoutControl: the switch inside is the control */}
      <label className="flex h-8 items-center gap-2 self-start text-sm text-muted">
        <Switch
          aria-label="Show revoked ones"
          checked={revoked}
          onChange={(on) => setSearch({ revoked: on ? "true" : undefined })}
        />
        Show revoked ones
      </label>
      <QueryState query={query} what="Remembered rules" loading={<Loading count={4} />}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="Nothing is remembered">
              Whoever decides a call can have it remembered. Calls like it are then decided the same way, and
              each still leaves a record.
            </Empty>
          ) : (
            <ul className="rounded-md border border-line">
              {items.map((rule) => (
                <RuleRow key={rule.id} rule={rule} onRevoke={() => setRevoking(rule)} />
              ))}
            </ul>
          )
        }
      </QueryState>
      {revoking && <Revoke rule={revoking} onClose={() => setRevoking(undefined)} />}
    </div>
  );
}

function RuleRow({ rule, onRevoke }: { rule: Rule; onRevoke(): void }) {
  const may = useMay("decide");
  const gone = rule.revoked_at !== null;
  return (
    <li className="flex flex-col gap-2 border-line px-3 py-2 not-first:border-t sm:flex-row sm:items-center sm:justify-between">
      <div className="min-w-0">
        <p className={cx("measure break-words", gone && "text-muted line-through")}>{rule.text}</p>
        <p className="flex flex-wrap items-center gap-x-2 text-xs text-muted">
          <span>
            Made by {rule.by} <Time at={rule.created_at} className="min-w-0!" />
          </span>
          {rule.until !== null && !gone && (
            <span>
              ends <Time at={rule.until} className="min-w-0!" />
            </span>
          )}
          {rule.revoked_at !== null && (
            <Tag>
              revoked <Time at={rule.revoked_at} className="min-w-0!" />
            </Tag>
          )}
        </p>
      </div>
      {!gone && (
        <Button
          size="small"
          onClick={onRevoke}
          disabled={!may}
          title={may ? undefined : `${WHO_MAY.decide} can revoke it`}
          className="coarse:h-10"
        >
          Revoke<span className="sr-only"> the rule for {rule.tool}</span>
        </Button>
      )}
    </li>
  );
}

function Revoke({ rule, onClose }: { rule: Rule; onClose(): void }) {
  const queryClient = useQueryClient();
  const [reason, setReason] = useState("");
  return (
    <Confirm
      open
      onClose={onClose}
      title={`Revoke the rule for ${rule.tool}?`}
      description={`${rule.text} Without it people are asked again. What it decided so far stays decided.`}
      action="Revoke the rule"
      danger
      onConfirm={async () => {
        await client.revokeRule({
          params: { id: rule.id },
          body: reason.trim() === "" ? {} : { reason: reason.trim() },
        });
        await queryClient.invalidateQueries({ queryKey: ["approval-rules"] });
      }}
    >
      <Field label="Reason" aside="optional">
        <TextField value={reason} onChange={setReason} autoComplete="off" />
      </Field>
    </Confirm>
  );
}
