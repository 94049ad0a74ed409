import { queryOptions } from "@tanstack/react-query";
import type { Answer } from "@trackside/server/client";
import { client } from "../../../api.ts";

/** What nodes may name, and what fits where. */
export type Catalog = Answer<"workflowCatalog">;

export const catalogQuery = queryOptions({
  queryKey: ["workflows", "catalog"],
  staleTime: 30_000,
  queryFn: ({ signal }) => client.workflowCatalog({}, { signal }),
});
