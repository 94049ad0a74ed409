import { whoAmI } from "../../who.ts";
import { readDefinition } from "./definition-file.ts";
import { onAgent } from "./on-agent.ts";

export const importAgent = onAgent({
  usage: "import <file>",
  about: "makes an agent of a definition; one of that name gets it as its next version",
  example: "import clerk.json",
  words: 1,
  async work({ trackside, scope, json, screen, line }, [file = ""], io) {
    const definition = await readDefinition(io, file);
    const name = nameIn(definition);
    const by = whoAmI(io.env);
    const there = name === undefined ? undefined : await known(trackside, name, scope);
    const saved =
      there === undefined
        ? await trackside.agents.import(definition, { ...scope, by })
        : await trackside.agents.save(there.name, { definition }, { ...scope, by, version: there.version });
    if (json) line(saved);
    else screen.line(`${saved.name}, version ${saved.version}`);
    return undefined;
  },
});

type Opened = Parameters<Parameters<typeof onAgent>[0]["work"]>[0];

async function known(trackside: Opened["trackside"], name: string, scope: Opened["scope"]) {
  const found = await trackside.agents.list({ ...scope, search: name, limit: 1000 });
  return found.find((agent) => agent.name === name);
}

function nameIn(definition: unknown): string | undefined {
  const name: unknown =
    typeof definition === "object" && definition ? Reflect.get(definition, "name") : undefined;
  return typeof name === "string" ? name : undefined;
}
