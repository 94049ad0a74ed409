import { EXIT } from "../../command.ts";
import { clean } from "../../screen/clean.ts";
import { readDefinition } from "./definition-file.ts";
import { onAgent } from "./on-agent.ts";

export const validate = onAgent({
  usage: "validate <file>",
  about: "says everything that is wrong with a definition; exits with 1 when something is",
  example: "validate clerk.json",
  words: 1,
  async work({ trackside, scope, json, screen, line }, [file = ""], io) {
    const found = await trackside.agents.validate(await readDefinition(io, file), scope);
    if (json) line(found);
    else if (found.ok) screen.line("Nothing is wrong with it.");
    else for (const { message } of found.issues) screen.line(`- ${clean(message)}`);
    return found.ok ? EXIT.completed : EXIT.failed;
  },
});
