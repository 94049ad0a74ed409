import { type CheckArgument, no, quoted, unclear, YES } from "./constraint.ts";

/** A path without `.`, `..` and doubled slashes, or why it cannot be said where it leads. */
type Read = { readonly path: string } | { readonly problem: string };

/**
 * Checks that a path stays inside one of the roots, by its letters alone: no file is looked at, so links inside the roots
 * are the roots' own business. Every way a tool may read the text has to lead inside: as it is, percent-decoded, and
 * with look-alike characters made plain.
 */
export function insideRoots(roots: readonly string[], base: string | undefined): CheckArgument {
  const allowed = roots.map((root) => pathOf(root, base));
  return (value) => {
    if (typeof value !== "string") return unclear(`is ${quoted(value)}, not a path`);
    const ways = readings(value);
    if (ways === undefined) return unclear(`${quoted(value)} is encoded over and over`);
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

/** The texts a tool may take this one for; undefined when it is encoded deeper than anybody means well. */
function readings(text: string): readonly string[] | undefined {
  const found = new Set<string>();
  let current = text;
  for (let round = 0; round <= MAX_DECODINGS; round++) {
    found.add(current).add(current.normalize("NFKC"));
    const decoded = current.replaceAll(/%([0-9a-f]{2})/gi, (_, hex) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    if (decoded === current) return [...found];
    current = decoded;
  }
  return undefined;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/;
/** The first bytes of over-long encodings of `.` and `/`, once they have been decoded byte by byte. */
const OVERLONG = /[\u00c0\u00c1]/;

function readPath(given: string, base: string | undefined): Read {
  const text = given.replaceAll("\\", "/");
  if (text.trim() === "") return { problem: "is empty" };
  if (CONTROL.test(text)) return { problem: "has control characters in it" };
  if (OVERLONG.test(text) && OVERLONG.test(given)) return { problem: "has over-long encodings in it" };
  if (text.startsWith("~")) return { problem: "starts at a home directory" };
  if (text.startsWith("//")) return { problem: "names a network share" };
  if (/^[a-z][a-z0-9+.-]+:/i.test(text)) return { problem: "is a URL" };
  const drive = /^[a-z]:/i.exec(text)?.[0] ?? "";
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
