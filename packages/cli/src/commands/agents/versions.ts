import { showTable } from "../../screen/table.ts";
import { when } from "../../screen/times.ts";
import { onAgent } from "./on-agent.ts";

export const versions = onAgent({
  usage: "versions <name>",
  about: "its versions, the newest first",
  example: "versions clerk",
  words: 1,
  async work({ trackside, scope, json, screen, line }, [name = ""]) {
    const found = await trackside.agents.versions(name, scope);
    if (json) for (const one of found) line(one);
    else
      showTable(
        screen,
        ["VERSION", "SAVED", "BY", "NOTE"],
        found.map(({ n, created_at, by, note, restored_from }) => [
          { text: String(n), style: "bold" },
          when(screen, created_at),
          by,
          restored_from === null ? (note ?? "") : `version ${restored_from} again${note ? `: ${note}` : ""}`,
        ]),
      );
    return undefined;
  },
});
