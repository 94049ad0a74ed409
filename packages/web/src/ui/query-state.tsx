import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ApiProblem, explain } from "../api.ts";
import { ErrorState, Loading, NoPermission } from "./states.tsx";

export interface QueryStateProps<T> {
  query: Pick<UseQueryResult<T>, "data" | "error" | "isFetching" | "refetch">;
  /** What is loaded, with a capital: "Runs", "Agent clerk". */
  what: string;
  /** The shape of what comes. */
  loading?: ReactNode;
  children(data: T): ReactNode;
}

/** Loading, what went wrong, or the data. Data that is there stays, whatever became of a later load. */
export function QueryState<T>({ query, what, loading = <Loading />, children }: QueryStateProps<T>) {
  if (query.data !== undefined) return children(query.data);
  if (!query.error) return loading;
  const { error } = query;
  if (error instanceof ApiProblem && error.status === 403)
    return <NoPermission what={`see this: ${explain(error)}`} />;
  const missing = error instanceof ApiProblem && error.status === 404;
  return (
    <ErrorState
      what={missing ? `${what} not found` : `${what} could not be loaded`}
      why={explain(error)}
      {...(!missing && { retry: () => void query.refetch() })}
      retrying={query.isFetching}
    />
  );
}
