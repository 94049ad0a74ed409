import { accessSync, constants, globSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

/** The folder that holds all of these programs: one on the PATH, else the highest of the usual ones. */
export function findPrograms(names: readonly string[], usual: readonly string[]): string | undefined {
  const onPath = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const elsewhere = usual.flatMap((pattern) =>
    // Found by a file in them, since a pattern for folders alone would also match what is not one.
    globSync(join(pattern, names[0] ?? ""))
      .map((file) => dirname(file))
      .sort((a, b) => b.localeCompare(a, "en", { numeric: true })),
  );
  return [...onPath, ...elsewhere].find((folder) => names.every((name) => isProgram(join(folder, name))));
}

export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile(); // folders are "executable" too
  } catch {
    return false;
  }
}
