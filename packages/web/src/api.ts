import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiProblem, createClient } from "@trackside/server/client";
import { connection } from "./connection.ts";
import { signedOut } from "./signed-out.ts";

export { ApiProblem } from "@trackside/server/client";

/** The HTTP API, one method for each endpoint. The cookie of the session goes along by itself. */
export const client = createClient();

/** Whether trying again may help: nobody answered, or the server is in trouble. What it refused it refuses again. */
export function mayRetry(error: unknown): boolean {
  if (!(error instanceof ApiProblem)) return false;
  return isUnreachable(error) || error.status >= 500;
}

/** Nobody of ours answered: no network, or a proxy that says so. */
function isUnreachable(error: unknown): boolean {
  return error instanceof ApiProblem && (error.status === 0 || error.status === 502 || error.status === 504);
}

function noteFailure(error: unknown): void {
  if (isUnreachable(error)) connection.failed("api");
  else if (error instanceof ApiProblem) {
    connection.worked("api");
    if (error.status === 401) signedOut();
  }
}

export function createQueryClient(): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({ onError: noteFailure, onSuccess: () => connection.worked("api") }),
    mutationCache: new MutationCache({ onError: noteFailure, onSuccess: () => connection.worked("api") }),
    defaultOptions: {
      queries: {
        // Pages are kept fresh by events; this is for what has none.
        staleTime: 10_000,
        retry: (failures, error) => failures < 3 && mayRetry(error),
        retryDelay: (failures) => Math.min(1000 * 2 ** failures, 10_000),
        // The browser's word for "online" is about its network, not about our server, which may be this machine.
        networkMode: "always",
      },
      // A mutation that is not repeatable by its key may have happened: the user decides.
      mutations: { retry: false, networkMode: "always" },
    },
  });
}

export const queryClient = createQueryClient();

/** An error as the user should read it: what the server said, or what broke here. */
export function explain(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What is wrong with a field, by its path, from a problem's `issues`: for `Field`'s `problem`. */
export function issuesByPath(error: unknown): Map<string, string> {
  const found = new Map<string, string>();
  if (error instanceof ApiProblem)
    for (const { path, message } of error.issues) if (!found.has(path)) found.set(path, message);
  return found;
}
