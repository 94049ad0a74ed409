import { makeRunFolder, removeRunFolder } from "./run-folder.ts";

/** Runs once, in the main process, before the first test file; what it answers runs after the last. */
export default function setup(): () => Promise<void> {
  const dir = makeRunFolder();
  return () => removeRunFolder(dir);
}
