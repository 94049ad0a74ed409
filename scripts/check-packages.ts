import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Manifest, promisesTypes, publicPackages } from "./public-packages.ts";
import { temporalServer } from "./services/index.ts";
import { findTemporal } from "./services/temporal-program.ts";

/** What `npm i trackside` may bring along, besides itself. */
const maxTransitivePackages = 5;
const hello = "examples/01-hello.ts";
const onTemporal = "examples/20-temporal.ts";

/** Runs a command to its end; a failure shows what it printed and ends the check. */
function run(cwd: string, command: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    timeout: 300_000,
  });
  if (status === 0) return stdout;
  throw new Error(`failed: ${command} ${args.join(" ")}\n${error ?? ""}${stdout}${stderr}`);
}

/** Packs a package as npm would publish it, and returns the tarball. */
function pack(dir: string, destination: string): string {
  const [packed] = JSON.parse(run(dir, "npm", "pack", "--json", "--pack-destination", destination));
  return join(destination, packed.filename);
}

function lint(root: string, tarball: string, manifest: Manifest): void {
  const bin = (name: string) => join(root, "node_modules/.bin", name);
  run(root, bin("publint"), "run", tarball, "--strict");
  if (promisesTypes(manifest)) run(root, bin("attw"), tarball, "--profile", "esm-only", "--no-emoji");
  console.log(`${manifest.name}: publint and attw have nothing to say`);
}

/** A new project, as a user would have it, with these tarballs and nothing else installed. */
function install(home: string, name: string, tarballs: string[]): string {
  const project = join(home, name);
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }');
  run(project, "npm", "install", "--prefer-offline", "--no-audit", "--no-fund", ...tarballs);
  return project;
}

export function installedPackages(project: string): string[] {
  const lock = JSON.parse(readFileSync(join(project, "node_modules/.package-lock.json"), "utf8"));
  return Object.keys(lock.packages).map((path) => path.replace(/^.*node_modules\//, ""));
}

/** The types a user sees are those of the tarball; errors in other people's declarations are not ours to mend. */
function checkTypes(root: string, project: string, name: string): void {
  const types = join(root, "node_modules/@types/node");
  const flags = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--types", types];
  const { stdout, error } = spawnSync(join(root, "node_modules/.bin/tsc"), [...flags, "hello.ts"], {
    cwd: project,
    encoding: "utf8",
  });
  if (error) throw error;
  const ours = (line: string) =>
    !line.startsWith("node_modules/") || line.startsWith(`node_modules/${name}/`);
  const errors = stdout.split("\n").filter((line) => line.includes("error TS") && ours(line));
  if (errors.length > 0) throw new Error(`the packed types of ${name} have errors:\n${errors.join("\n")}`);
}

function checkCore(root: string, home: string, tarball: string, manifest: Manifest): void {
  const project = install(home, "library", [tarball]);
  const others = installedPackages(project).filter((name) => name !== manifest.name);
  const list = `${others.length} other packages (${others.join(", ")})`;
  if (others.length > maxTransitivePackages)
    throw new Error(`${manifest.name} installs ${list}; at most ${maxTransitivePackages} are allowed`);

  const entries = Object.keys(manifest.exports ?? {}).filter((path) => !path.endsWith(".json"));
  const imports = entries.map((path) => `import ${JSON.stringify(manifest.name + path.slice(1))};`);
  writeFileSync(join(project, "imports.ts"), imports.join("\n"));
  run(project, process.execPath, "imports.ts");
  copyFileSync(join(root, hello), join(project, "hello.ts"));
  run(project, process.execPath, "hello.ts");

  checkTypes(root, project, manifest.name);
  console.log(`${manifest.name}: installs with ${list}; ${hello} runs and type-checks`);
}

/** A command is installed next to the packages of ours that it needs, which npm does not have yet. */
function checkCommands(home: string, tarballs: string[], commands: string[]): string {
  const project = install(home, "commands", tarballs);
  for (const command of commands) {
    run(project, process.execPath, join("node_modules/.bin", command), "--help");
    console.log(`${command} --help runs from the packed packages`);
  }
  return project;
}

/** Workers have to find the workflow code that was packed with them, which only a real server asks them for. */
async function checkWorkers(root: string, project: string): Promise<void> {
  const server = findTemporal() === undefined ? undefined : await temporalServer();
  if (server === undefined || "missing" in server) {
    console.log(`there is no Temporal here: ${onTemporal} did not run from the packed packages`);
    return;
  }
  try {
    copyFileSync(join(root, onTemporal), join(project, "on-temporal.ts"));
    const given = `export const someServer = async () => ({ address: ${JSON.stringify(server.address)}, async stop() {} });`;
    writeFileSync(join(project, "temporal-server.ts"), given);
    run(project, process.execPath, "on-temporal.ts");
    console.log(`${onTemporal} runs from the packed packages`);
  } finally {
    await server.stop();
  }
}

if (import.meta.main) {
  const root = resolve(".");
  const home = mkdtempSync(join(tmpdir(), "trackside-packages-"));
  try {
    const packages = publicPackages(root).map(({ dir, manifest }) => {
      const tarball = pack(join(root, dir), home);
      lint(root, tarball, manifest);
      return { tarball, manifest };
    });
    const core = packages.find(({ manifest }) => manifest.name === "trackside");
    if (!core) throw new Error("there is no package named trackside");
    checkCore(root, home, core.tarball, core.manifest);
    const commands = packages.flatMap(({ manifest }) => Object.keys(manifest.bin ?? {}));
    const project = checkCommands(
      home,
      packages.map(({ tarball }) => tarball),
      commands,
    );
    await checkWorkers(root, project);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
