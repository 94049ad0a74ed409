import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { cx } from "../../ui/class-names.ts";
import { QueryState } from "../../ui/query-state.tsx";
import { Loading } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { conversationsQuery } from "./conversation.ts";

/** Conversations of an agent, the latest first. */
export function ConversationList({
  agent,
  current,
  onChoose,
}: {
  agent: string;
  current: string | undefined;
  onChoose?: () => void;
}) {
  const query = useQuery(conversationsQuery(agent));
  return (
    <QueryState query={query} what="Conversations" loading={<Loading count={5} />}>
      {({ items, next }) =>
        items.length === 0 ? (
          <p className="px-2 py-1 text-sm text-muted">None yet. The first message begins one.</p>
        ) : (
          <>
            <ul className="flex flex-col gap-px">
              {items.map((one) => {
                const isWorking = one.branches.some((branch) => branch.active_run_id !== null);
                return (
                  <li key={one.id}>
                    <Link
                      to="/playground/$agent"
                      params={{ agent }}
                      search={{ conversation: one.id }}
                      {...(onChoose && { onClick: onChoose })}
                      aria-current={one.id === current ? "page" : undefined}
                      title={one.title ?? one.id}
                      className={cx(
                        "flex min-h-9 flex-col justify-center rounded-md px-2 py-1 hover:bg-sunken coarse:min-h-11",
                        one.id === current && "bg-sunken shadow-[inset_2px_0_0_var(--accent)]",
                      )}
                    >
                      <span className="truncate text-sm">
                        {one.title ?? <span className="text-muted">Without a title</span>}
                      </span>
                      <span className="flex items-center gap-2 text-xs text-muted">
                        <Time at={one.updated_at} className="min-w-0" />
                        {isWorking && <span className="text-blue">running</span>}
                        {one.branches.length > 1 && (
                          <span className="whitespace-nowrap">{one.branches.length} branches</span>
                        )}
                      </span>
                    </Link>
                  </li>
                );
              })}
            </ul>
            {next !== null && <p className="px-2 py-2 text-xs text-faint">The latest {items.length}.</p>}
          </>
        )
      }
    </QueryState>
  );
}
