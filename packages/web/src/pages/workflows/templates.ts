import { queryOptions } from "@tanstack/react-query";
import { client } from "../../api.ts";

/** Workflows to start from. */
export const templatesQuery = queryOptions({
  queryKey: ["workflows", "templates"],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: ({ signal }) => client.listWorkflowTemplates({}, { signal }),
});
