import { createHash } from "node:crypto";
import { renameSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { findPrograms } from "./find-program.ts";
import { findGo } from "./go.ts";
import { rememberedFailure, rememberFailure } from "./past-failure.ts";
import { TEMPORAL_CLI_VERSION } from "./temporal-version.ts";
import { inWorkFolder } from "./work-folder.ts";

/** What `temporal-cli/go.mod` asks for. */
const GO_VERSION = "1.26.4";
const PACKAGE = "github.com/temporalio/cli";
const SOURCE = join(import.meta.dirname, "temporal-cli");
/**
 * Four to six minutes on two idle cores; the other suites run beside it. A program with the server and its store alone would
 * compile 1,671 of these 1,718 packages, so it would save next to nothing.
 */
export const BUILD_MS = 45 * 60_000;

/** Builds the Temporal CLI from its source, which Go fetches. Undefined when it is at `target`, else why not. */
export async function buildTemporal(
  target: string,
  { goPlaces }: { goPlaces?: readonly string[] } = {},
): Promise<string | undefined> {
  const go = await findGo(GO_VERSION, goPlaces);
  if ("reason" in go) return go.reason;
  const name = `temporal-${createHash("sha256").update(target).digest("hex").slice(0, 12)}`;
  const before = rememberedFailure(name);
  if (before !== undefined) return before;

  const what = `Temporal CLI ${TEMPORAL_CLI_VERSION} with Go ${go.version}`;
  say(`building ${what} into ${target}, once: about six minutes on two cores`);
  const began = Date.now();
  const problem = await inWorkFolder(dirname(target), async (folder) => {
    const built = join(folder.dir, "temporal");
    const failure = await folder.run(...gently(go.program, goArgs(built)), {
      cwd: SOURCE,
      env: goEnv(folder.dir),
      timeoutMs: BUILD_MS,
    });
    // In one move, so that nobody ever finds half a program.
    if (failure === undefined) renameSync(built, target);
    return failure;
  });
  if (problem === undefined) {
    say(`built ${what} in ${Math.round((Date.now() - began) / 1000)} s`);
    return undefined;
  }
  const reason = `${what} could not be built: ${problem}`;
  rememberFailure(name, reason);
  return reason;
}

function goArgs(output: string): readonly string[] {
  const version = `${PACKAGE}/internal/temporalcli.Version=${TEMPORAL_CLI_VERSION}`;
  return [
    "build",
    "-mod=readonly", // the versions in go.sum and no others
    "-buildvcs=false",
    "-trimpath",
    "-ldflags",
    `-s -w -X ${version}`,
    "-o",
    output,
    `${PACKAGE}/cmd/temporal`,
  ];
}

function goEnv(dir: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    HOME: homedir(), // Go keeps its caches there, and an environment may lack it
    GOTMPDIR: dir,
    GOTOOLCHAIN: "local", // no other Go is fetched
    GOWORK: "off",
    CGO_ENABLED: "0", // needs no C compiler
  };
}

/** The suites that run beside the build come first. */
function gently(command: string, args: readonly string[]): [string, readonly string[]] {
  const folder = findPrograms(["nice"], ["/usr/bin", "/bin"]);
  return folder === undefined ? [command, args] : [join(folder, "nice"), ["-n", "10", command, ...args]];
}

function say(text: string): void {
  process.stderr.write(`services: ${text}\n`);
}
