import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  coreTopFiles,
  impureCoreRooms,
  neverReaches,
  packagesWithRooms,
  type Room,
  rooms,
  strangers,
} from "./rooms.ts";
import { type Import, lineAt } from "./syntax.ts";
import { type SourceFile, Workspace } from "./workspace.ts";
import { worldlyNames } from "./worldly-names.ts";

/** Checks every package below `root` against the table in rooms.ts; one line per problem, none if all is well. */
export function checkBoundaries(root: string): string[] {
  const workspace = new Workspace(root);
  const checks = [
    ...workspace.sourcePaths().map((path) => () => checkFile(workspace, workspace.read(path))),
    ...neverReaches.map((rule) => () => checkReach(workspace, rule)),
  ];
  const problems = checks.flatMap((check) => {
    try {
      return check();
    } catch (error) {
      if (error instanceof SyntaxError) return [error.message];
      throw error;
    }
  });
  return [...new Set(problems)];
}

function checkFile(workspace: Workspace, file: SourceFile): string[] {
  const found: string[] = [];
  const room = roomOf(file.path);
  const rule = ruleOf(room);
  const report = (start: number, what: string) =>
    found.push(`${file.path}:${lineAt(file.text, start)} ${what}`);
  if (!rule) return [`${file.path}:1 is in room ${room}, which scripts/rooms.ts does not list: add it there`];

  for (const imported of file.imports) {
    const { specifier, lazy, start } = imported;
    if (specifier === undefined) {
      if (isPure(room))
        report(start, `imports a computed path; ${room} is pure, so write the path as a string`);
      continue;
    }
    const target = workspace.resolve(file.path, specifier);
    if ("problem" in target) report(start, `imports "${specifier}", ${target.problem}`);
    else if ("packageName" in target) {
      if (!mayUsePackage(rule, target.packageName, lazy))
        report(start, `imports "${specifier}"; ${room} may import ${describe(rule)}`);
    } else {
      const goal = roomOf(target.file);
      if (specifier.startsWith(".") && packageOf(goal) !== packageOf(room))
        report(start, `imports "${specifier}" of another package by path; import it by its package name`);
      else {
        const refusal = refuseRoom(room, rule, goal, imported);
        if (refusal) report(start, `imports "${specifier}" of ${goal}${refusal}`);
      }
    }
  }
  if (isPure(room))
    for (const [start, what] of worldlyNames(file.program)) report(start, `${what}; ${room} is pure`);
  return found;
}

function roomOf(path: string): string {
  const [, packageDir = "", , first = "", ...rest] = path.split("/");
  if (!packagesWithRooms.includes(packageDir)) return packageDir;
  if (rest.length > 0) return `${packageDir}/${first}`;
  return packageDir === "core" && !coreTopFiles.includes(first) ? "core/root" : `${packageDir}/top`;
}

const packageOf = (room: string) => room.split("/")[0];
const isPure = (room: string) => room.startsWith("core/") && !impureCoreRooms.includes(room);
const ruleOf = (room: string): Room | undefined =>
  rooms[room] ?? rooms[isPure(room) ? "core/pure" : (packageOf(room) ?? room)];

const covers = (list: readonly string[] | undefined, room: string) =>
  list?.some((name) => name === room || (name === "core/pure" ? isPure(room) : name === packageOf(room))) ??
  false;

function mayUsePackage(rule: Room, name: string, lazy: boolean): boolean {
  return !rule.packages || rule.packages.includes(name) || (lazy && rule.lazyPackages === true);
}

/** Why `room` may not import `goal` in this way; nothing if it may. */
function refuseRoom(room: string, rule: Room, goal: string, { typeOnly, lazy }: Import): string | undefined {
  if (goal === room) return undefined;
  if (strangers.some((pair) => pair.includes(room) && pair.includes(goal)))
    return `; ${room} and ${goal} never import each other`;
  if (covers(rule.types, goal)) return typeOnly ? undefined : `; ${room} may only \`import type\` from there`;
  if (covers(rule.rooms, goal)) return undefined;
  if (covers(rule.lazyRooms, goal))
    return typeOnly || lazy ? undefined : `; ${room} may only load it by \`import()\``;
  return `; ${room} may import ${describe(rule)}`;
}

function describe(rule: Room): string {
  const parts = [
    ...rule.rooms,
    ...(rule.types ?? []).map((name) => `types of ${name}`),
    ...(rule.lazyRooms ?? []).map((name) => `${name} by import()`),
    ...(rule.packages ?? ["any package"]),
  ];
  if (rule.lazyPackages) parts.push("other packages by import()");
  return parts.join(", ");
}

function checkReach(
  workspace: Workspace,
  { from, packageName, why }: (typeof neverReaches)[number],
): string[] {
  if (!existsSync(join(workspace.root, from))) return [`${from}:1 is missing, so nothing shows that ${why}`];
  const cameFrom = new Map<string, string | undefined>([[from, undefined]]);
  for (const path of cameFrom.keys()) {
    for (const { specifier, typeOnly, start } of workspace.read(path).imports) {
      if (typeOnly || specifier === undefined) continue;
      const target = workspace.resolve(path, specifier);
      if ("file" in target && /\.tsx?$/.test(target.file) && !cameFrom.has(target.file))
        cameFrom.set(target.file, path);
      if (!("packageName" in target) || target.packageName !== packageName) continue;
      const way = [packageName];
      for (let at: string | undefined = path; at; at = cameFrom.get(at)) way.unshift(at);
      const line = lineAt(workspace.read(path).text, start);
      return [`${path}:${line} brings ${packageName} into ${from} (${way.join(" → ")}); ${why}`];
    }
  }
  return [];
}

if (import.meta.main) {
  const problems = checkBoundaries(process.cwd());
  for (const problem of problems) console.error(problem);
  console.log(
    problems.length === 0 ? "boundaries: all imports go one way" : `boundaries: ${problems.length} problems`,
  );
  process.exitCode = problems.length === 0 ? 0 : 1;
}
