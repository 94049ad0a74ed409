import { Link } from "@tanstack/react-router";
import { cx } from "../ui/class-names.ts";
import { usePending } from "./pending.ts";
import { PLACES, type Place } from "./places.ts";

/** At the left on wide windows; at the bottom, in reach of a thumb, on phones. */
export function Nav() {
  const pending = usePending();
  const count = pending.count === 0 ? undefined : `${pending.count}${pending.more ? "+" : ""}`;
  return (
    <nav aria-label="Places" className="min-w-0 md:mt-2 md:w-full">
      {/* More places than a phone is wide: the bar scrolls in itself. */}
      <ul className="flex overflow-x-auto md:flex-col md:gap-0.5 md:overflow-visible">
        {PLACES.map((place) => (
          <li key={place.to} className="flex-auto">
            <PlaceLink place={place} count={place.to === "/inbox" ? count : undefined} />
          </li>
        ))}
      </ul>
    </nav>
  );
}

function PlaceLink({ place, count }: { place: Place; count: string | undefined }) {
  const { to, label, icon: PlaceIcon, key } = place;
  return (
    <Link
      to={to}
      activeOptions={{ exact: to === "/", includeSearch: false }}
      activeProps={{ "aria-current": "page" }}
      title={`${label} (g ${key})`}
      className={cx(
        "group relative flex h-14 flex-col items-center justify-center gap-0.5 px-2 text-xs text-muted -outline-offset-2 hover:text-ink",
        "md:h-8 md:flex-row md:justify-start md:gap-2 md:rounded-md md:px-2 md:text-base md:hover:bg-sunken",
        "aria-[current]:font-medium aria-[current]:text-ink aria-[current]:shadow-[inset_0_2px_0_var(--accent)]",
        "md:aria-[current]:bg-sunken md:aria-[current]:shadow-[inset_2px_0_0_var(--accent)]",
      )}
    >
      <PlaceIcon className="max-md:size-5" />
      {/* There is room for one word at the bottom of a phone: where one is. */}
      <span className="max-w-full truncate max-md:sr-only max-md:group-aria-[current]:not-sr-only">
        {label}
      </span>
      {count && (
        <span className="absolute top-1 left-[calc(50%+6px)] rounded-full bg-amber-soft px-1.5 text-xs font-medium text-amber tabular-nums md:static md:ml-auto">
          {count}
          <span className="sr-only"> waiting for you</span>
        </span>
      )}
    </Link>
  );
}
