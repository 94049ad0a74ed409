import { EXIT } from "../../command.ts";
import { clean } from "../../screen/clean.ts";
import { readDefinition } from "../agents/definition-file.ts";
import { onWorkflow } from "./on-workflow.ts";

export const validate = onWorkflow({
  usage: "validate <file>",
  about: "says everything that is wrong with a definition; exits with 1 when something is",
  example: "validate deploy.json",
  async work({ trackside, scope, json, screen, line }, file, io) {
    const found = await trackside.workflows.validate(await readDefinition(io, file), scope);
    if (json) line(found);
    else if (found.ok) screen.line("Nothing is wrong with it.");
    else for (const { message } of found.issues) screen.line(`- ${clean(message)}`);
    return found.ok ? EXIT.completed : EXIT.failed;
  },
});
