import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Says that the first so many lines of a file have this digest. */
interface Seal {
  readonly lines: number;
  readonly sha256: string;
}

export interface CorpusFile {
  /** Such as `v1/runs.jsonl`. */
  readonly file: string;
  /** The codec it belongs to. */
  readonly name: string;
  readonly lines: readonly string[];
}

export const CORPUS = fileURLToPath(new URL("../corpus", import.meta.url));

export function readCorpus(dir = CORPUS): readonly CorpusFile[] {
  const files = readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".jsonl"),
  );
  return files.sort().map((file) => {
    const lines = readFileSync(join(dir, file), "utf8")
      .split("\n")
      .filter((line) => line !== "");
    return { file, name: basename(file, ".jsonl"), lines };
  });
}

/** What is wrong with the seals: a line that changed, a file that is gone, lines without a seal. */
export function brokenSeals(dir = CORPUS): string[] {
  const files = new Map(readCorpus(dir).map((file) => [file.file, file.lines]));
  const problems: string[] = [];
  const seals = readSeals(dir);
  for (const [file, sealed] of Object.entries(seals))
    for (const seal of sealed)
      if (digest(files.get(file) ?? [], seal.lines) !== seal.sha256)
        problems.push(
          `${file}: one of its first ${seal.lines} lines was changed or removed; stored rows never change`,
        );
  for (const [file, lines] of files)
    if (lines.length > (seals[file]?.at(-1)?.lines ?? 0))
      problems.push(`${file}: new lines have no seal; run packages/host/test/store/seal-corpus.ts`);
  return problems;
}

/** Seals what is new. What is sealed already stays as it is. */
export function seal(dir = CORPUS): void {
  const seals: Record<string, readonly Seal[]> = { ...readSeals(dir) };
  for (const { file, lines } of readCorpus(dir)) {
    const known = seals[file] ?? [];
    if (lines.length <= (known.at(-1)?.lines ?? 0)) continue;
    seals[file] = [...known, { lines: lines.length, sha256: digest(lines, lines.length) }];
  }
  writeFileSync(join(dir, "seals.json"), `${JSON.stringify(seals, null, 2)}\n`);
}

function readSeals(dir: string): Readonly<Record<string, readonly Seal[]>> {
  const path = join(dir, "seals.json");
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
}

function digest(lines: readonly string[], count: number): string {
  return createHash("sha256").update(lines.slice(0, count).join("\n")).digest("hex");
}
