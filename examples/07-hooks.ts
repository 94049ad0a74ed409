// Plain hooks on lifecycle points: they watch, and one that throws ends the run by name.
import { Agent, RunError } from "trackside";
import { scriptedModel } from "trackside/testing";

const agent = new Agent({ name: "a", model: scriptedModel(["Hello."], { loop: true }) });
agent.hookManager
  .add("START", ({ inputs }) => console.log("asked:", inputs.input))
  .add("POST_LLM_CALL", async ({ inputs }) => console.log("tokens:", inputs.usage.output_tokens));
await agent.run("Hi");

agent.hookManager.add("PRE_LLM_CALL", function officeHours() {
  throw new Error("closed on Sundays");
});
try {
  await agent.run("Hi again");
} catch (error) {
  if (error instanceof RunError) console.log(error.code, "-", error.message);
}
