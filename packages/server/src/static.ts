import { createHash } from "node:crypto";
import { constants as fsConstants } from "node:fs";
import { access, lstat, open, readdir } from "node:fs/promises";
import { join, sep } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { HttpProblem, notFound } from "./http/problem.ts";

const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  ico: "image/x-icon",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  map: "application/json",
  png: "image/png",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
  webmanifest: "application/manifest+json",
  woff2: "font/woff2",
};
const PACKED = /\.(br|gz)$/;
const WORTH_PACKING = /^(text|application|image\/svg)/;
const MAX_FILES = 5000;
const MAX_BYTES = 64 * 1024 * 1024;
const LOOK_AGAIN_MS = 1000;
/** Names that pages of the app have: letters, digits and what ids are made of. */
const PAGE = /^(?:\/[\w.~:@!$&'()*+,;= -]*)*$/;

const NOT_BUILT =
  "The control room is not built. Run `npm run web` in the repository, or give createServer its folder as `web`.\n" +
  "The API works without it: see /api/v1/openapi.json.\n";

interface WebFile {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly etag: string;
  readonly packed: Partial<Record<Encoding, Uint8Array<ArrayBuffer>>>;
}
type Encoding = "br" | "gzip";

/**
 * Serves the built control room. All its files are read once and kept; a request only picks one of them by its name, so
 * that no spelling of a path leads anywhere else.
 */
export class WebFiles {
  readonly #folder: string | undefined;
  #files: ReadonlyMap<string, WebFile> = new Map();
  #stamp = "";
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;

  /** `undefined` where there is no build. */
  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  readonly answer = async (request: Request): Promise<Response> => {
    const path = pathOf(request.url);
    if (request.method !== "GET" && request.method !== "HEAD")
      throw new HttpProblem(405, "method_not_allowed", `${request.method} is not possible here; GET is.`, {
        headers: { allow: "GET, HEAD" },
      });
    await this.#look();
    const exact = path === undefined ? undefined : this.#files.get(path === "/" ? "/index.html" : path);
    if (path !== undefined && exact !== undefined) return serve(request, path, exact);
    const isPage =
      path !== undefined && PAGE.test(path) && !path.includes("/..") && !path.startsWith("/assets/");
    if (!isPage || !accepts(request)) throw notFound("There is no such page.");
    const index = this.#files.get("/index.html");
    if (index === undefined)
      return new Response(NOT_BUILT, {
        status: 503,
        headers: { "content-type": "text/plain; charset=utf-8" },
      });
    return serve(request, "/index.html", index);
  };

  /** Reads the folder, and again when there was another build. */
  #look(): Promise<void> {
    if (this.#folder === undefined || Date.now() - this.#lookedAt < LOOK_AGAIN_MS)
      return this.#looking ?? Promise.resolve();
    this.#lookedAt = Date.now();
    this.#looking = this.#read(this.#folder).catch(() => {}); // a build that is under way is read when it is done
    return this.#looking;
  }

  async #read(folder: string): Promise<void> {
    const { mtimeMs, size } = await lstat(join(folder, "index.html"));
    const stamp = `${mtimeMs} ${size}`;
    if (stamp === this.#stamp) return;
    const files = await readFolder(folder);
    this.#files = files;
    this.#stamp = stamp;
    void packAll(files);
  }
}

/** Where the control room's build is: beside ours, or in the workspace. */
export async function findWeb(): Promise<string | undefined> {
  const here = import.meta.dirname;
  for (const folder of [join(here, "web"), join(here, "../web"), join(here, "../../web/dist")])
    if (await exists(join(folder, "index.html"))) return folder;
  return undefined;
}

async function exists(path: string): Promise<boolean> {
  return access(path, fsConstants.R_OK).then(
    () => true,
    () => false,
  );
}

/** A path as it is meant, decoded once; undefined when it is none. */
function pathOf(url: string): string | undefined {
  try {
    const path = decodeURIComponent(new URL(url).pathname);
    return /[\p{Cc}\\%]/u.test(path) ? undefined : path;
  } catch {
    return undefined;
  }
}

/** Pages are for whoever asks for pages: a script that is gone is not answered with one. */
function accepts({ headers }: Request): boolean {
  const accept = headers.get("accept") ?? "*/*";
  return accept.includes("text/html") || accept === "*/*";
}

function serve(request: Request, path: string, file: WebFile): Response {
  const cache = path.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "no-cache";
  const encoding = encodingFor(request, file);
  const headers: Record<string, string> = {
    "content-type": file.type,
    "cache-control": cache,
    etag: file.etag,
    vary: "accept-encoding",
  };
  const known = request.headers.get("if-none-match");
  if (known?.split(",").some((one) => one.trim().replace(/^W\//, "") === file.etag))
    return new Response(null, { status: 304, headers });
  if (encoding !== undefined) headers["content-encoding"] = encoding;
  const bytes = (encoding === undefined ? undefined : file.packed[encoding]) ?? file.bytes;
  headers["content-length"] = String(bytes.byteLength);
  return new Response(request.method === "HEAD" ? null : bytes, { headers });
}

function encodingFor(request: Request, { packed }: WebFile): Encoding | undefined {
  const accepted = request.headers.get("accept-encoding") ?? "";
  const takes = (name: Encoding) =>
    new RegExp(`\\b${name}\\b(?!\\s*;\\s*q=0(?:\\.0*)?\\s*(?:,|$))`).test(accepted);
  return (["br", "gzip"] as const).find((name) => packed[name] !== undefined && takes(name));
}

async function readFolder(folder: string): Promise<Map<string, WebFile>> {
  const files = new Map<string, WebFile>();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  let bytes = 0;
  // Links are left out: what they point to may be anything.
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .slice(0, MAX_FILES);
  for (const name of names) {
    if (PACKED.test(name)) continue;
    const content = await readPlain(name);
    bytes += content.byteLength;
    if (bytes > MAX_BYTES)
      throw new Error(`${folder} has more than ${MAX_BYTES} bytes, which is no build of ours`);
    const packed: WebFile["packed"] = {};
    if (names.includes(`${name}.br`)) packed.br = await readPlain(`${name}.br`);
    if (names.includes(`${name}.gz`)) packed.gzip = await readPlain(`${name}.gz`);
    const etag = `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
    const type = TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
    files.set(name.slice(folder.length).split(sep).join("/"), { type, bytes: content, etag, packed });
  }
  return files;
}

/** A file that became a link since it was listed is not followed. */
async function readPlain(path: string): Promise<Uint8Array<ArrayBuffer>> {
  const file = await open(path, fsConstants.O_RDONLY | fsConstants.O_NOFOLLOW);
  try {
    return new Uint8Array(await file.readFile());
  } finally {
    await file.close();
  }
}

const brotli = promisify(brotliCompress);
const deflate = promisify(gzip);
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

/** One after the other, beside the first requests: until it is done they are served as they are. */
async function packAll(files: ReadonlyMap<string, WebFile>): Promise<void> {
  for (const { type, bytes, packed } of files.values()) {
    if (!WORTH_PACKING.test(type) || bytes.byteLength < 1024) continue;
    packed.gzip ??= new Uint8Array(await deflate(bytes));
    packed.br ??= new Uint8Array(await brotli(bytes, QUALITY));
  }
}
