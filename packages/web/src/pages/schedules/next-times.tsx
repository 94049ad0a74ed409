import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { client, explain } from "../../api.ts";
import { Loading } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { useDebounced } from "../agents/editor/debounced.ts";
import { ownZone, shortTimeIn, timeIn } from "./schedule.ts";

/** From then on the words for a distance are the date again. */
const MONTH_MS = 31 * 86_400_000;

/** What the server makes of a pattern: kept while somebody types. */
export function usePreview(pattern: string, time_zone: string, enabled = true) {
  const trigger = useDebounced({ pattern, time_zone }, 250);
  return useQuery({
    queryKey: ["schedules", "preview", trigger.pattern, trigger.time_zone],
    queryFn: ({ signal }) =>
      client.previewSchedule({ body: { trigger: { kind: "cron", ...trigger } } }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
    enabled,
  });
}

/** The next five times, on clocks of the schedule's zone and on one's own. */
export function NextTimes({ preview, zone }: { preview: ReturnType<typeof usePreview>; zone: string }) {
  const { data, error } = preview;
  const own = ownZone();
  return (
    <section aria-label="Next five times" className="rounded-md border border-line bg-panel p-3">
      <h2 className="font-semibold">Next five times</h2>
      {data?.words && <p className="text-sm text-muted">{`${data.words}, ${zone}`}</p>}
      {error && !data && <p className="mt-2 text-red">{explain(error)}</p>}
      {!data && !error && <Loading shape="lines" count={5} />}
      {data && !data.ok && (
        <p className="mt-2 text-sm text-muted">They are shown once the pattern and the zone are right.</p>
      )}
      {data?.ok && (
        <ol className="mt-2 flex flex-col gap-2" aria-live="polite">
          {data.next_times.map((at) => (
            <li key={at} className="text-sm">
              <span className="flex flex-wrap justify-between gap-x-3">
                <span className="tabular-nums">{timeIn(zone, at)}</span>
                {at - Date.now() < MONTH_MS && (
                  <span className="text-muted">
                    <Time at={at} className="min-w-0" />
                  </span>
                )}
              </span>
              {zone !== own && (
                <span className="block text-xs text-muted tabular-nums" title={timeIn(own, at)}>
                  {shortTimeIn(own, at)} for you
                </span>
              )}
            </li>
          ))}
        </ol>
      )}
      <p className="mt-3 text-xs text-muted">
        On days when clocks change, a time that does not come runs the moment they are set forward, and one
        that comes twice runs once. What runs every hour goes on every hour.
      </p>
    </section>
  );
}
