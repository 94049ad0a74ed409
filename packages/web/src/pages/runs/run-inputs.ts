import { queryOptions, useQueries } from "@tanstack/react-query";
import { client } from "../../api.ts";
import { glance } from "./waterfall.ts";

/** Two at a time: a browser has six connections to a server, and these are the ones that can wait. */
const AT_ONCE = 2;
let running = 0;
const waiting: (() => void)[] = [];

async function inTurn<T>(ask: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    return await ask();
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

/** What the user said, which never changes, by run. */
const inputQuery = (id: string) =>
  queryOptions({
    queryKey: ["runs", "input", id],
    queryFn: ({ signal }) =>
      inTurn(async () => {
        signal.throwIfAborted();
        return firstLine((await client.getRun({ params: { id } }, { signal })).input);
      }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 30 * 60_000,
    retry: false,
  });

/** The first lines of what runs were asked, as far as they are known. */
export function useInputs(ids: readonly string[]): ReadonlyMap<string, string> {
  return useQueries({
    queries: ids.map(inputQuery),
    combine: (results) =>
      new Map(
        results.flatMap(({ data }, at) => (data === undefined ? [] : [[ids[at] ?? "", data] as const])),
      ),
  });
}

/** The input of a workflow is JSON: its values at a glance. */
export function inputWords(text: string): string {
  try {
    return glance(JSON.parse(text));
  } catch {
    return text; // the first line of what was written by hand
  }
}

const firstLine = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.trim())
    .find((line) => line !== "") ?? "";
