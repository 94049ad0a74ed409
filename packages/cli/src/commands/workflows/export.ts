import { onWorkflow } from "./on-workflow.ts";

export const exportWorkflow = onWorkflow({
  usage: "export <name>",
  about: "prints the definition as JSON, field for field as it is stored",
  example: "export deploy > deploy.json",
  json: true,
  async work({ trackside, scope, write }, name) {
    write(`${JSON.stringify(await trackside.workflows.export(name, scope), null, 2)}\n`);
    return undefined;
  },
});
