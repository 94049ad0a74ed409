import { ServicesKeeper } from "../services/keeper.ts";
import { Watcher } from "../services/watcher.ts";
import { endLeftoverProcesses } from "./leftover-processes.ts";
import { makeRunFolder, removeRunFolder } from "./run-folder.ts";

/** Runs once in the main process before the first test file; the function it returns runs after the last. */
export default async function setup(): Promise<() => Promise<void>> {
  const dir = makeRunFolder();
  const watcher = new Watcher(dir, "SIGTERM"); // removes the folder when this process is killed
  const keeper = await ServicesKeeper.listen(dir);
  return async () => {
    await keeper.close();
    const left = await endLeftoverProcesses(dir);
    await removeRunFolder(dir);
    await watcher.close();
    if (left.length > 0)
      throw new Error(`Tests left processes running, which were killed:\n${left.join("\n")}`);
  };
}
