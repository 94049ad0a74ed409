import type { Hosts } from "./hosts.ts";
import { HttpProblem } from "./problem.ts";

/**
 * Refuses what another site's page may have sent. Browsers add the cookie by themselves and say where a request is from;
 * whoever has to show a token cannot be made to by a page. SameSite does not do: all ports of a machine are one site.
 */
export function checkOrigin(request: Request, host: string | null, hosts: Hosts, byCookie: boolean): void {
  const site = request.headers.get("sec-fetch-site");
  const origin = request.headers.get("origin");
  const reads = request.method === "GET" || request.method === "HEAD";
  if (byCookie && site !== null && site !== "same-origin" && site !== "none") throw refused();
  if (reads) return;
  if (origin !== null && !hosts.isOwn(origin, host)) throw refused();
  if (byCookie && origin === null && site !== "same-origin") throw refused();
}

function refused(): HttpProblem {
  const detail =
    "The request comes from a page of another origin, or does not say from which. Send it from the control room's own " +
    "pages, or with an API token instead of the cookie.";
  return new HttpProblem(403, "wrong_origin", detail);
}
