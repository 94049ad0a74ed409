import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { isProgram } from "./find-program.ts";

const run = promisify(execFile);
const ANSWER_MS = 60_000;

export interface Go {
  readonly program: string;
  readonly version: string;
}

/** Where Go is installed, on the PATH or not: folders, or patterns for them. */
const usualPlaces = () => [
  "/usr/local/go/bin",
  join(homedir(), "go/bin"),
  join(homedir(), ".local/go/bin"),
  join(homedir(), "sdk/go*/bin"),
  "/usr/lib/go-*/bin",
  "/usr/lib/go/bin",
  "/usr/lib/golang/bin",
  "/opt/homebrew/bin",
  "/snap/bin",
];

/** The first Go that is new enough, else why there is none. */
export async function findGo(
  wanted: string,
  places: readonly string[] = usualPlaces(),
): Promise<Go | { readonly reason: string }> {
  const onPath = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const files = [
    ...onPath.map((folder) => join(folder, "go")),
    ...places.flatMap((place) => globSync(join(place, "go"))),
  ];
  const tooOld: string[] = [];
  for (const program of new Set(files.filter(isProgram))) {
    const version = await versionOf(program);
    if (version === undefined) continue;
    if (isAtLeast(version, wanted)) return { program, version };
    tooOld.push(`${program} is ${version}`);
  }
  const reason = tooOld.length === 0 ? "" : ` (${tooOld.join(", ")})`;
  return { reason: `there is no Go ${wanted} or newer to build it with${reason}` };
}

/** Undefined for something else that is called `go`. */
async function versionOf(program: string): Promise<string | undefined> {
  try {
    const env = { ...process.env, HOME: homedir(), GOTOOLCHAIN: "local" };
    const { stdout } = await run(program, ["version"], { cwd: "/", env, timeout: ANSWER_MS });
    return /^go version .*?\bgo(\d+\.\d+(?:\.\d+)?)/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}

function isAtLeast(version: string, wanted: string): boolean {
  return version.localeCompare(wanted, "en", { numeric: true }) >= 0;
}
