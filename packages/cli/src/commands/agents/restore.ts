import { whoAmI } from "../../who.ts";
import { onAgent, readVersion } from "./on-agent.ts";

export const restore = onAgent({
  usage: "restore <name> <version>",
  about: "saves an older version as the newest",
  example: "restore clerk 3",
  words: 2,
  async work({ trackside, scope, json, screen, line }, [name = "", given], io) {
    const { version } = await trackside.agents.get(name, scope);
    const saved = await trackside.agents.restore(name, readVersion(given), {
      ...scope,
      version,
      by: whoAmI(io.env),
    });
    if (json) line(saved);
    else screen.line(`${saved.name}, version ${saved.version}, is as version ${given} was.`);
    return undefined;
  },
});
