import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { extname, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Complaint } from "./complaint.ts";
import type { Io } from "./io.ts";

const CODE = [".ts", ".mts", ".cts", ".js", ".mjs", ".cjs"];

/** The absolute path of a file that exists and has one of the endings. */
export function findFile(given: string, cwd: string, endings: readonly string[] = CODE): string {
  const path = resolve(cwd, given);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new Complaint(`There is no file ${given}, looked for at ${path}.`);
  if (!found.isFile()) throw new Complaint(`${given} is not a file.`);
  if (!endings.includes(extname(path)))
    throw new Complaint(`${given} cannot be loaded: its name should end in ${endings.join(", ")}.`);
  return path;
}

/** Imports a module of the user's. What is wrong with it is a complaint that says where. */
export async function loadModule(path: string, { cwd, importModule }: Io): Promise<Record<string, unknown>> {
  try {
    return await importModule(pathToFileURL(path).href);
  } catch (error) {
    throw new Complaint(`${shown(path, cwd)} does not load.\n\n${describe(error, path, cwd)}`, {
      cause: error,
    });
  }
}

/** A path as the user would write it. */
export function shown(path: string, cwd: string): string {
  const short = relative(cwd, path);
  return short === "" || short.startsWith("..") ? path : short;
}

function describe(error: unknown, path: string, cwd: string): string {
  if (!(error instanceof Error)) return `It threw ${String(error)}.`;
  // Asked by name: the user's copy of the library need not be ours. A config error lists its issues, each on a line.
  if (error.name === "AgentConfigError" || error.name === "TracksideError") return error.message;
  if (error instanceof SyntaxError) return syntaxError(error, path, cwd);
  const code = "code" in error ? error.code : undefined;
  if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") return notFound(error.message);
  const place = placeIn(error.stack, cwd);
  return `${error.name}: ${error.message}${place ? `\n    at ${place}` : ""}`;
}

/** TypeScript's come with the place in front of the stack, JavaScript's with none: Node tells it to a check alone. */
function syntaxError(error: SyntaxError, path: string, cwd: string): string {
  let report = error.stack ?? "";
  if (/^\w*Error/.test(report)) {
    const checked = spawnSync(process.execPath, ["--check", path], { encoding: "utf8", timeout: 10_000 });
    if (checked.status !== 0 && checked.stderr) report = checked.stderr;
  }
  const [place = "", ...lines] = report.split("\n");
  const end = lines.findIndex((line) => /^\w*Error\b/.test(line));
  if (end === -1) return `${error.name}: ${error.message}`;
  const file = place.startsWith("file:")
    ? place.replace(/^(file:.*?)(:\d+)?$/, (_, url: string, at = "") => fileURLToPath(url) + at)
    : place;
  const excerpt = lines.slice(0, end).join("\n").trimEnd();
  const hint =
    "code" in error && error.code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX"
      ? "\nNode runs TypeScript by removing its types, so enums, namespaces and parameter properties cannot be used."
      : "";
  return `${shown(file, cwd)}\n${excerpt}\n${error.name}: ${error.message}${hint}`;
}

function notFound(message: string): string {
  const name = /package '((?:@[^/']+\/)?[^/']+)/.exec(message)?.[1];
  return name === undefined ? message : `${message}\nRun: npm install ${name}`;
}

/** The first line of a stack that is the user's own, as file:line:column. */
function placeIn(stack: string | undefined, cwd: string): string | undefined {
  const url = /(file:\/\/\/[^\s)]+?):(\d+:\d+)/.exec(stack ?? "");
  return url?.[1] && `${shown(fileURLToPath(url[1]), cwd)}:${url[2]}`;
}
