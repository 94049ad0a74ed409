import { whoAmI } from "../../who.ts";
import { onAgent } from "./on-agent.ts";

export const remove = onAgent({
  usage: "delete <name>",
  about: "deletes an agent; runs under way go on, and its runs stay",
  example: "delete clerk",
  words: 1,
  async work({ trackside, scope, screen }, [name = ""], io) {
    await trackside.agents.delete(name, { ...scope, by: whoAmI(io.env) });
    screen.line(`${name} is deleted. Its runs and versions stay.`);
    return undefined;
  },
});
