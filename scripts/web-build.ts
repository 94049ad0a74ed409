import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { withLock } from "./services/lock-file.ts";

const run = promisify(execFile);
const BUILD_MS = 600_000;
/** As the server compresses what has no such file. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
const WEB = resolve(import.meta.dirname, "../packages/web");

/** What the built files are made of. */
const SOURCES = [
  "{src,public}/**/*",
  "{index.html,vite.config.ts,package.json}",
  "../server/src/{client,contract}/**/*.ts",
  "../core/src/{schema,planning,subagents,workflows}/**/*.ts",
];

/** The folder of the built web app, built first where it is missing or older than its sources: once, whoever asks. */
export async function builtWeb(web: string = WEB): Promise<string> {
  const dist = join(web, "dist");
  // Several checkouts on one machine build apart from each other.
  const lock = `web-build-${createHash("sha256").update(web).digest("hex").slice(0, 12)}`;
  const there = await withLock(lock, () => (isFresh(web) ? Promise.resolve(true) : build(web)), {
    waitMs: BUILD_MS,
  });
  if (there === undefined)
    throw new Error(`another process has been building ${dist} for ${BUILD_MS / 1000} s`);
  return dist;
}

function isFresh(web: string): boolean {
  const built = statSync(join(web, "dist/index.html"), { throwIfNoEntry: false })?.mtimeMs;
  return built !== undefined && newest(web) <= built;
}

function newest(web: string): number {
  const files = globSync(SOURCES, { cwd: web }).filter((file) => !/\.test\.tsx?$/.test(file));
  return Math.max(...files.map((file) => statSync(join(web, file), { throwIfNoEntry: false })?.mtimeMs ?? 0));
}

async function build(web: string): Promise<true> {
  const begun = new Date();
  // Beside the old one, which somebody may be looking at.
  const fresh = join(web, `node_modules/.web-${process.pid}`);
  mkdirSync(dirname(fresh), { recursive: true });
  const vite = join(
    dirname(createRequire(join(WEB, "package.json")).resolve("vite/package.json")),
    "bin/vite.js",
  );
  try {
    await run(process.execPath, [vite, "build", "--outDir", fresh, "--emptyOutDir", "--logLevel", "warn"], {
      cwd: web,
      env: { ...process.env, NODE_ENV: "production", VITEST: "" },
      timeout: BUILD_MS,
      maxBuffer: 2 ** 24,
    });
    pack(join(fresh, "assets"));
    // What is edited during the build is newer than what comes of it.
    utimesSync(join(fresh, "index.html"), begun, begun);
    rmSync(join(web, "dist"), { recursive: true, force: true });
    renameSync(fresh, join(web, "dist"));
    return true;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Compresses the assets once, so that no server that serves the build has to. The server prefers `.br` and `.gz` files. */
function pack(assets: string): void {
  for (const name of globSync("*.{js,css}", { cwd: assets })) {
    const content = readFileSync(join(assets, name));
    writeFileSync(join(assets, `${name}.gz`), gzipSync(content));
    writeFileSync(join(assets, `${name}.br`), brotliCompressSync(content, QUALITY));
  }
}

// `npm start` begins here: whoever cloned the repository has sources, and a browser wants what is built of them.
if (import.meta.main) {
  if (!isFresh(WEB)) console.log("Building the control room, which takes some seconds the first time.\n");
  await builtWeb();
}
