import { clean } from "../../screen/clean.ts";
import { onAgent, readVersion } from "./on-agent.ts";

export const diff = onAgent({
  usage: "diff <name> <from> <to>",
  about: "what differs between two versions",
  example: "diff clerk 3 4",
  words: 3,
  async work({ trackside, scope, json, screen, line }, [name = "", from, to]) {
    const found = await trackside.agents.diff(name, readVersion(from), readVersion(to), scope);
    if (json) for (const one of found) line(one);
    else if (found.length === 0) screen.line("They are the same.");
    else
      for (const { path, kind, before, after } of found) {
        screen.line(screen.paint("bold", clean(path)));
        if (kind !== "added") screen.line(screen.paint("red", `  - ${clean(JSON.stringify(before))}`));
        if (kind !== "removed") screen.line(screen.paint("green", `  + ${clean(JSON.stringify(after))}`));
      }
    return undefined;
  },
});
