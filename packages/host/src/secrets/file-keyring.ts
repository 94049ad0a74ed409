import { randomBytes } from "node:crypto";
import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  type Stats,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { TracksideError } from "trackside";
import { fixedKeyring, idOf, KEY_BYTES, type Keyring, parseKeys } from "./keyring.ts";

/** Nobody else may read the key, nobody but its owner may change it; a group may read it, as mounted secrets have it. */
const TOO_OPEN = 0o027;

/**
 * The keys in a file, one `id:key` in each line, the first current. The file is made, with one key and for its owner only,
 * the first time something has to be encrypted. Whoever copies the database has to copy this file too, and whoever steals
 * the one without the other has nothing.
 */
export function fileKeyring(path: string): Keyring {
  let known: Keyring | undefined;
  // Read again while a key is missing: another process may have made the file, or somebody may have added a key to it.
  const look = () => {
    known = readKeyFile(path) ?? known;
    return known;
  };
  return {
    source: path,
    current: () => (known ?? look() ?? make()).current(),
    find: (id) => known?.find(id) ?? look()?.find(id),
    ids: () => (known ?? look())?.ids() ?? [],
  };

  function make(): Keyring {
    createKeyFile(path);
    const made = look();
    if (made === undefined) throw unusable(path, "was removed while it was being made");
    return made;
  }
}

function readKeyFile(path: string): Keyring | undefined {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw unusable(path, `cannot be read (${codeOf(error)})`);
  }
  try {
    const problem = tooOpen(fstatSync(file));
    if (problem !== undefined) throw unusable(path, problem);
    return fixedKeyring(path, parseKeys(readFileSync(file, "utf8"), path));
  } finally {
    closeSync(file);
  }
}

function tooOpen(stats: Stats): string | undefined {
  if (process.platform === "win32" || (stats.mode & TOO_OPEN) === 0) return undefined;
  const mode = (stats.mode & 0o777).toString(8).padStart(4, "0");
  return `can be read by others (mode ${mode}); run \`chmod 600\` on it, and replace the key if others have read it`;
}

/** Written aside and linked into place, so that the file is never seen half written and the first of two makers wins. */
function createKeyFile(path: string): void {
  const bytes = randomBytes(KEY_BYTES);
  const aside = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const file = openSync(aside, "wx", 0o600);
    try {
      writeSync(file, `${idOf(bytes)}:${bytes.toString("base64")}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    try {
      linkSync(aside, path);
      syncFolder(dirname(path));
    } finally {
      unlinkSync(aside);
    }
  } catch (error) {
    if (codeOf(error) === "EEXIST") return; // another process was first: its key is the key
    throw unusable(
      path,
      `cannot be made (${codeOf(error)}); set TRACKSIDE_SECRET_KEY instead, or make the folder writable`,
    );
  }
}

/** What was encrypted under the key must not survive a power cut that the key does not. */
function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function unusable(path: string, problem: string): TracksideError {
  return new TracksideError("secret_key_file", `The key file ${path} ${problem}`);
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
