import { readdirSync, renameSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { isProgram } from "./find-program.ts";
import { TEMPORAL_CLI_VERSION } from "./temporal-version.ts";
import { inWorkFolder } from "./work-folder.ts";

const LIBRARY = "@temporalio/testing";
const ROOT = resolve(import.meta.dirname, "../..");
const DOWNLOAD_MS = 60_000;

/** In a process of its own: the library has native code, and its download has no end of its own. */
const PROGRAM = `
  import { TestWorkflowEnvironment } from ${JSON.stringify(LIBRARY)};
  const [downloadDir, version] = process.argv.slice(1);
  const executable = { type: "cached-download", downloadDir, version };
  const environment = await TestWorkflowEnvironment.createLocal({ server: { executable } });
  await environment.teardown();
`;

/** The download that Temporal's test library has built in. Undefined when the program is at `target`, else why not. */
export async function downloadTemporal(
  target: string,
  { packages = [ROOT, join(ROOT, "packages/temporal")] }: { packages?: readonly string[] } = {},
): Promise<string | undefined> {
  const cwd = packages.find(hasLibrary);
  if (cwd === undefined) return `no download, because ${LIBRARY} is not installed`;
  process.stderr.write(`services: downloading Temporal CLI ${TEMPORAL_CLI_VERSION} with ${LIBRARY}\n`);
  const problem = await inWorkFolder(dirname(target), async (folder) => {
    const args = ["--input-type=module", "-e", PROGRAM, folder.dir, `v${TEMPORAL_CLI_VERSION}`];
    const failure = await folder.run(process.execPath, args, {
      cwd,
      env: process.env,
      timeoutMs: DOWNLOAD_MS,
    });
    if (failure !== undefined) return failure;
    const file = readdirSync(folder.dir)
      .map((name) => join(folder.dir, name))
      .find(isProgram);
    if (file === undefined) return "it left no program";
    renameSync(file, target); // in one move, so that nobody ever finds half a program
    return undefined;
  });
  return problem === undefined ? undefined : `${LIBRARY} could not download it: ${problem}`;
}

function hasLibrary(folder: string): boolean {
  try {
    createRequire(join(folder, "package.json")).resolve(LIBRARY);
    return true;
  } catch {
    return false;
  }
}
