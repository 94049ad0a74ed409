import { EXIT } from "../../command.ts";
import { toldToStop, until } from "../../told-to-stop.ts";
import { whoAmI } from "../../who.ts";
import { onSchedule } from "./on-schedule.ts";

export const run = onSchedule({
  verb: "run",
  about: "fires a schedule now, whether it is on or off, and waits for its run; Ctrl-C leaves that to others",
  async work({ trackside, scope, json, screen, line }, name, io) {
    const firing = await trackside.schedules.fire(name, { ...scope, by: whoAmI(io.env) });
    const { run_id, state, reason } = firing;
    if (state === "failed") {
      if (json) line(firing);
      screen.line(`It could not be started. ${reason ?? ""}`.trimEnd());
      return EXIT.failed;
    }
    if (run_id === null) {
      if (json) line(firing);
      else screen.line("It is started. Whoever serves the store goes on with it.");
      return undefined;
    }
    if (!json) screen.line(`${run_id} is started.`);
    const ended = trackside.runs.result(run_id, scope).catch(() => undefined); // how it went is in its record
    await Promise.race([ended, until(toldToStop(io))]);
    const { status } = await trackside.runs.get(run_id, scope);
    if (json) line({ ...firing, run_status: status });
    else screen.line(`It is ${status}. See: trackside runs show ${run_id}`);
    return status === "error" ? EXIT.failed : undefined;
  },
});
