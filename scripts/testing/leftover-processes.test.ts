import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { endLeftoverProcesses } from "./leftover-processes.ts";
import { RUN_FOLDER } from "./run-folder.ts";
import { temporaryFolder } from "./temporary-folder.ts";

test.runIf(process.platform === "linux")(
  "a process that outlives its tests is killed and named, one of another run is not",
  async () => {
    const [ours, other] = [temporaryFolder("run"), temporaryFolder("run")];
    const start = (folder: string) =>
      spawn("sleep", ["3600"], { stdio: "ignore", env: { ...process.env, [RUN_FOLDER]: folder } });
    const left = start(ours);
    const stays = start(other);
    const ended = once(left, "exit");

    expect(await endLeftoverProcesses(ours, 0)).toEqual([`${left.pid} sleep 3600`]);
    expect(await ended).toEqual([null, "SIGKILL"]);
    expect(stays.exitCode).toBeNull();
    const stopped = once(stays, "exit");
    stays.kill();
    await stopped;
    expect(await endLeftoverProcesses(other, 60_000)).toEqual([]);
  },
);
