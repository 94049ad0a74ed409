import { queryOptions, useQuery } from "@tanstack/react-query";
import type { Answer } from "@trackside/server/client";
import { client } from "./api.ts";

export type Me = Answer<"me">;
export type Permission = Me["may"][number];

/** Who is signed in. Asked once; sign-in and sign-out replace it. */
export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: ({ signal }) => client.me({}, { signal }),
  staleTime: 5 * 60_000,
  retry: false,
});

export function useMe(): Me | undefined {
  return useQuery(meQuery).data;
}

/** Whether the user's role allows it: `useMay("decide")`. The server asks again; this only spares a click. */
export function useMay(what: Permission): boolean {
  return useMe()?.may.includes(what) ?? false;
}

/** Who can, for `NoPermission` and for titles of disabled buttons. */
export const WHO_MAY: Record<Permission, string> = {
  read: "Anyone who is signed in",
  operate: "An operator or admin",
  decide: "An approver or admin",
  admin: "An admin",
};
