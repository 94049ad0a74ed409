import { whoAmI } from "../../who.ts";
import { readDefinition } from "../agents/definition-file.ts";
import { onWorkflow } from "./on-workflow.ts";

export const importWorkflow = onWorkflow({
  usage: "import <file>",
  about: "makes a workflow of a definition; one of that name gets it as its next version",
  example: "import deploy.json",
  async work({ trackside, scope, json, screen, line }, file, io) {
    const definition = await readDefinition(io, file);
    const name = nameIn(definition);
    const by = whoAmI(io.env);
    const known =
      name === undefined ? [] : await trackside.workflows.list({ ...scope, search: name, limit: 1000 });
    const there = known.find((one) => one.name === name);
    const saved =
      there === undefined
        ? await trackside.workflows.import(definition, { ...scope, by })
        : await trackside.workflows.save(there.name, definition, { ...scope, by, version: there.version });
    if (json) line(saved);
    else screen.line(`${saved.name}, version ${saved.version}`);
    return undefined;
  },
});

function nameIn(definition: unknown): string | undefined {
  const name: unknown =
    typeof definition === "object" && definition ? Reflect.get(definition, "name") : undefined;
  return typeof name === "string" ? name : undefined;
}
