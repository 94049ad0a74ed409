import type { Trackside } from "@trackside/host";
import { codeOf } from "../approvals/approver.ts";
import { EXIT } from "../command.ts";
import { claimStdout, type Io, type Output } from "../io.ts";
import { clean, jsonLine } from "../screen/clean.ts";
import { Screen } from "../screen/screen.ts";
import { configFile } from "./find-config.ts";
import { loadConfig } from "./load-config.ts";

/** Options that every command on a store has. */
export const STORE_OPTIONS = {
  config: { type: "string" },
  tenant: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

export const STORE_OPTIONS_HELP = `  --config file           the config; else trackside.config.ts here or in the nearest folder above
  --tenant name           whose it is; "default" unless given
  --help                  shows this`;

export const STORE_EXIT_HELP = `Exit codes
  0    done
  1    it could not be done: somebody else was faster, or the store did not work
  2    wrong usage or configuration; nothing was changed`;

export interface StoreValues {
  readonly config?: string | undefined;
  readonly tenant?: string | undefined;
  readonly json?: boolean | undefined;
}

/** A Trackside that is open, and where to say something. */
export interface InStore {
  readonly trackside: Trackside;
  readonly scope: { readonly tenant: string };
  readonly json: boolean;
  /** No config was loaded: the Trackside was made around an agent's file. */
  readonly fromFile?: boolean;
  /** Where people read: stdout, or with `--json` stderr. */
  readonly output: Output;
  readonly screen: Screen;
  /** Writes to stdout, with `--json` past whatever a config or an agent prints there. */
  readonly write: (text: string) => void;
  /** One value as a line of JSON on stdout. */
  readonly line: (value: unknown) => void;
}

/**
 * Opens the config's Trackside for one command and closes it again. It takes up no runs: whoever looks or decides is not
 * here to run anything.
 */
export async function inStore(
  io: Io,
  values: StoreValues,
  work: (opened: InStore) => Promise<number>,
): Promise<number> {
  const path = configFile(values.config, io.cwd);
  return inTrackside(io, values, async () => (await loadConfig(path, io)).trackside, work);
}

/** The same with a Trackside from elsewhere. Whatever `make` loads and prints stays out of lines of JSON. */
export async function inTrackside(
  io: Io,
  values: StoreValues,
  make: () => Promise<Trackside>,
  work: (opened: InStore) => Promise<number>,
): Promise<number> {
  const json = values.json === true;
  const output = json ? io.stderr : io.stdout;
  const write = json ? claimStdout(io) : (text: string) => void io.stdout.write(text);
  const trackside = await make();
  try {
    await trackside.open({ claims: false });
    return await work({
      trackside,
      scope: { tenant: values.tenant ?? "default" },
      json,
      output,
      screen: new Screen(output, io.env),
      write,
      line: (value) => write(`${jsonLine(value)}\n`),
    });
  } catch (error) {
    return refusal(error, io);
  } finally {
    await trackside.close().catch(() => {}); // what was done is done; a store that is away has been told of
  }
}

/** What the host says no to is told in its words; anything else is a bug and thrown on. */
function refusal(error: unknown, io: Io): number {
  const code = codeOf(error);
  if (
    !(error instanceof Error) ||
    !("code" in error) ||
    !/^(Trackside|Store|AgentConfig)Error$/.test(error.name)
  )
    throw error;
  io.stderr.write(`${clean(sentence(error.message))}\n`);
  return MENDABLE.has(code) ? EXIT.usage : EXIT.failed;
}

/** The command has to be written differently, rather than tried again. */
const MENDABLE = new Set([
  "not_found",
  "approval_unknown",
  "decision_invalid",
  "config_invalid",
  "rule_unknown",
  "rule_invalid",
  "rules_off",
]);

function sentence(text: string): string {
  // What begins with the name of a field keeps it.
  const upper = /^\w+:/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(upper) ? upper : `${upper}.`;
}
