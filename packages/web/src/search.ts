import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";

/** What a URL says after "?": a text, or several under one name. */
export type Search = Record<string, string | string[]>;

/** Plain query strings, as the API has them: `?status=running&status=waiting&agent=clerk`. */
export function parseSearch(text: string): Search {
  const found: Search = Object.create(null);
  for (const [name, value] of new URLSearchParams(text)) {
    const before = found[name];
    found[name] = before === undefined ? value : [before, value].flat();
  }
  return { ...found };
}

export function stringifySearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search))
    for (const one of [value].flat())
      if (one !== undefined && one !== null && one !== "") params.append(name, String(one));
  return params.size > 0 ? `?${params}` : "";
}

export type SearchPatch = Record<string, string | number | readonly string[] | undefined>;

/**
 * Filters, tabs, selections and ranges live in the URL. What is set to `undefined` or "" leaves it. Set replaces the
 * entry of the history, unless `push` asks for one to go back to.
 */
export function useSearchState(): [
  search: Search,
  set: (patch: SearchPatch, options?: { push?: boolean }) => void,
] {
  // Every route reads its search with parseSearch above.
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const set = useCallback(
    (patch: SearchPatch, options?: { push?: boolean }) => {
      void navigate({
        to: ".",
        // The router types the search of each route; ours is plain everywhere.
        search: ((before: Search) => clean({ ...before, ...patch })) as never,
        replace: !options?.push,
        resetScroll: false,
      });
    },
    [navigate],
  );
  return [search, set];
}

function clean(search: SearchPatch): SearchPatch {
  return Object.fromEntries(
    Object.entries(search).filter(
      ([, value]) => value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0),
    ),
  );
}

/** The one value under a name; the first if there are several. */
export function one(search: Search, name: string): string | undefined {
  const value = search[name];
  return Array.isArray(value) ? value[0] : value;
}

/** All values under a name. */
export function many(search: Search, name: string): string[] {
  const value = search[name];
  return value === undefined ? [] : [value].flat();
}

/** A number under a name, if it is one. */
export function numberOf(search: Search, name: string): number | undefined {
  const value = one(search, name);
  if (value === undefined || value.trim() === "") return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}
