import { isIP } from "node:net";
import { HttpProblem } from "./problem.ts";

/** Whether only this machine reaches an address. */
export function isLoopback(host: string): boolean {
  const name = bare(host);
  if (name === "localhost" || name === "::1") return true;
  return isIP(name) === 4 && name.startsWith("127.");
}

/** As it is written: a parser would read other spellings of a number as the number. */
const HOST_HEADER = /^([\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** The names this server goes by. */
export class Hosts {
  readonly #names: ReadonlySet<string>;
  /** On every address of a machine, any of its numbers will do: numbers are not looked up, so nobody can point them here. */
  readonly #numbers: boolean;
  readonly #publicOrigin: string | undefined;

  constructor(host: string, publicUrl: string | undefined, others: readonly string[]) {
    const own = publicUrl === undefined ? [] : [bare(new URL(publicUrl).hostname)];
    const local = isLoopback(host) ? ["localhost", "127.0.0.1", "::1"] : [];
    this.#names = new Set([bare(host), ...local, ...own, ...others.map(bare)]);
    this.#numbers = bare(host) === "0.0.0.0" || bare(host) === "::";
    this.#publicOrigin = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  }

  /** Refuses a name that is not ours: somebody may have pointed their own at us, to read us from their page. */
  check(header: string | null | undefined): void {
    const name = bare(HOST_HEADER.exec(header ?? "")?.[1] ?? "");
    if (name !== "" && (this.#names.has(name) || (this.#numbers && isIP(name) !== 0))) return;
    const shown = JSON.stringify((header ?? "").slice(0, 80));
    throw new HttpProblem(
      421,
      "wrong_host",
      `This server does not go by the name ${shown}. Use the address it printed, or give it this one as publicUrl.`,
    );
  }

  /** Whether a page of this origin is one of ours. */
  isOwn(origin: string, host: string | null | undefined): boolean {
    if (origin === this.#publicOrigin) return true;
    const from = URL.parse(origin);
    if (from === null || (from.protocol !== "http:" && from.protocol !== "https:")) return false;
    // Behind something that speaks https only the public address tells the scheme.
    return from.host === URL.parse(`${from.protocol}//${host ?? ""}`)?.host;
  }
}

function bare(host: string): string {
  const name = host.toLowerCase().replace(/\.$/, "");
  return name.startsWith("[") && name.endsWith("]") ? name.slice(1, -1) : name;
}
