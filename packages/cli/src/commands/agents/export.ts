import { onAgent } from "./on-agent.ts";

export const exportAgent = onAgent({
  usage: "export <name>",
  about: "prints the definition as JSON, field for field as it is stored",
  example: "export clerk > clerk.json",
  words: 1,
  json: true,
  async work({ trackside, scope, write }, [name = ""]) {
    write(`${JSON.stringify(await trackside.agents.export(name, scope), null, 2)}\n`);
    return undefined;
  },
});
