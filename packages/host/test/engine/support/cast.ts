import {
  type ScriptedModel,
  type ScriptedReply,
  type ScriptedRequest,
  scriptedModel,
} from "trackside/testing";

/** What is said in each conversation, by how it begins: the user's words, or the task of a sub-agent. */
export type Cast = Readonly<Record<string, readonly (string | ScriptedReply)[]>>;

/** One model for a tree of agents. It answers by what has been said, so that any process can go on. */
export function cast(parts: Cast, chunk: number | "whole" = "whole"): ScriptedModel {
  return scriptedModel(
    [
      (request) => {
        const who = openingOf(request);
        const reply = parts[who]?.[saidIn(request)];
        if (reply === undefined) throw new Error(`nothing is left to say to ${JSON.stringify(who)}`);
        return reply;
      },
    ],
    { loop: true, chunk },
  );
}

export function openingOf({ prompt }: Pick<ScriptedRequest, "prompt">): string {
  const first = prompt.find((message) => message.role === "user");
  const [part] = first?.role === "user" ? first.content : [];
  return part?.type === "text" ? part.text.replace(/^Task:\n/, "") : "";
}

function saidIn({ prompt }: ScriptedRequest): number {
  return prompt.filter(({ role }) => role === "assistant").length;
}

export const spawn = (...tasks: readonly (string | object)[]): ScriptedReply => ({
  calls: [
    {
      tool: "spawn_parallel",
      args: { jobs: tasks.map((task) => (typeof task === "string" ? { task } : task)) },
    },
  ],
});

export const spawnSelf = (task: string): ScriptedReply => ({
  calls: [{ tool: "spawn_self", args: { task } }],
});
