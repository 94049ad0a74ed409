import { type CheckArgument, no, quoted, unclear, YES } from "./constraint.ts";

/** A path without `.`, `..` and doubled slashes, or why it cannot be said where it leads. */
type Read = { readonly path: string } | { readonly problem: string };

/**
 * Checks that a path stays inside one of the roots, by its letters alone: no file is looked at, so links inside the roots
 * are the roots' own business. Every way a tool may read the text has to lead inside: as it is, percent-decoded,
 * with look-alike characters made plain, and with backslashes as letters or as slashes.
 */
export function insideRoots(roots: readonly string[], base: string | undefined): CheckArgument {
  const allowed = roots.map((root) => pathOf(root, base));
  return (value) => {
    if (typeof value !== "string") return unclear(`is ${quoted(value)}, not a path`);
    const ways = readings(value);
    if (typeof ways === "string") return unclear(`${quoted(value)} ${ways}`);
    const reads = ways.map((text) => readPath(text, base));
    const odd = reads.find((read) => "problem" in read);
    if (odd && "problem" in odd) return unclear(`${quoted(value)} ${odd.problem}`);
    const paths = reads.flatMap((read) => ("path" in read ? [read.path] : []));
    if (paths.every((path) => allowed.some((root) => isInside(path, root)))) return YES;
    const why = `${quoted(value)} is not inside ${allowed.join(" or ")}`;
    // Where the file system folds case or drops trailing dots it may be inside all the same.
    const near = paths.some((path) => allowed.some((root) => isInside(folded(path), folded(root))));
    return near ? unclear(why) : no(why);
  };
}

/** What is wrong with a root or base of the options. */
export function rootProblem(root: string, base: string | undefined): string | undefined {
  const read = readPath(root, base);
  return "problem" in read ? `an absolute path; ${quoted(root)} ${read.problem}` : undefined;
}

function pathOf(root: string, base: string | undefined): string {
  const read = readPath(root, base);
  if ("problem" in read) throw new TypeError(`the root ${quoted(root)} ${read.problem}`); // the options were checked
  return read.path;
}

const MAX_DECODINGS = 3;

/** The texts a tool may take this one for, or what is wrong with it. */
function readings(text: string): readonly string[] | string {
  const found = new Set<string>();
  let current = text;
  for (let round = 0; round <= MAX_DECODINGS; round++) {
    for (const form of [current, current.normalize("NFKC")]) found.add(form).add(form.replaceAll("\\", "/"));
    if (OVERLONG.test(current)) return "has over-long encodings in it";
    const decoded = current.replaceAll(/%([0-9a-f]{2})/gi, (_, hex) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    if (decoded === current) return [...found];
    current = decoded;
  }
  return "is encoded over and over";
}

/** No character is written with these bytes, but some readers take what begins so for `.` or `/`. */
const OVERLONG = /%c[01]/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/;

function readPath(given: string, base: string | undefined): Read {
  const drive = /^[a-z]:/i.exec(given)?.[0] ?? "";
  const text = drive === "" ? given : given.replaceAll("\\", "/"); // on a drive a backslash is no letter
  if (text.trim() === "") return { problem: "is empty" };
  if (CONTROL.test(text)) return { problem: "has control characters in it" };
  if (text.startsWith("~")) return { problem: "starts at a home directory" };
  if (text.startsWith("//")) return { problem: "names a network share" };
  if (/^[a-z][a-z0-9+.-]+:/i.test(text)) return { problem: "is a URL" };
  if (drive !== "" && text[2] !== "/") return { problem: "is relative to a drive" };
  if (drive === "" && !text.startsWith("/")) {
    if (base === undefined) return { problem: "is relative; it has to be absolute" };
    return readPath(`${base}/${text}`, undefined);
  }
  const segments: string[] = [];
  for (const segment of text.slice(drive.length).split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment === "..") segments.pop();
    else if (/^[. ]+$/.test(segment)) return { problem: "has segments of dots and spaces only" };
    else segments.push(segment);
  }
  return { path: `${drive.toUpperCase()}/${segments.join("/")}` };
}

function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith("/") ? root : `${root}/`);
}

function folded(path: string): string {
  return path
    .toLowerCase()
    .split("/")
    .map((segment) => segment.replace(/[. ]+$/, ""))
    .join("/");
}
