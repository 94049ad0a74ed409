import { Agent } from "trackside";
import { type ScriptedRequest, scriptedModel } from "trackside/testing";

type Hooks = NonNullable<ConstructorParameters<typeof Agent>[0]["hooks"]>;

/** An agent with these pre-hooks. */
export function injected(pre: NonNullable<Hooks["pre"]>, answers: readonly string[] = ["hi"]) {
  const model = scriptedModel(answers);
  return { agent: new Agent({ name: "a", model, instructions: "Be kind.", hooks: { pre } }), model };
}

/** A request as `role: text` lines. */
export function lines(request: ScriptedRequest | undefined): string[] {
  return (request?.prompt ?? []).map(({ role, content }) => {
    const text =
      typeof content === "string"
        ? content
        : content.map((part) => ("text" in part ? part.text : part.type)).join("|");
    return `${role}: ${text}`;
  });
}
